// Violates the layer rule `startup` on purpose (`test/house/layer-rules.ts`).
import type { Format } from '../wire/imports-an-operation.ts';

export type Read = Format;
