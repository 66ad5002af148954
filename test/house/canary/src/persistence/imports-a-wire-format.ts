// Violates the layer rule `persistence` on purpose (`test/house/layer-rules.ts`).
import type { Format } from '../wire/imports-an-operation.ts';

export type Row = Format;
