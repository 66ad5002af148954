// Violates the layer rules `resolvers`, `gateway-types-only` and `dataloader-in-loaders` on purpose
// (`test/house/layer-rules.ts`).
import DataLoader from 'dataloader';
import { engine } from '../src/gateway/imports-the-orm.ts';
import { call } from '../src/providers/imports-an-http-client.ts';

export const read = [engine, call, DataLoader];
