// Violates the layer rule `wire` on purpose (`test/house/layer-rules.ts`).
// It imports a type from `resolvers/`, the folder of the operations.
import type { read } from '../../resolvers/imports-an-adapter.ts';

export type Format = typeof read;
