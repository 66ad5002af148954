// Breaks `resolvers`, `gateway-types-only` and `dataloader-in-loaders`.
import DataLoader from 'dataloader';
import { engine } from '../src/gateway/uses-a-library.ts';
import { call } from '../src/providers/brings-a-client.ts';

export const read = [engine, call, DataLoader];
