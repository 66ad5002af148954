// Breaks `resolvers`, `gateway-types-only` and `dataloader-in-loaders`.
import DataLoader from 'dataloader';
import { engine } from '../src/gateway/imports-the-orm.ts';
import { call } from '../src/providers/imports-an-http-client.ts';

export const read = [engine, call, DataLoader];
