// Violates the layer rule `lite` on purpose (`test/house/layer-rules.ts`).
import type { Row } from '../src/persistence/imports-a-wire-format.ts';

export type Printed = Row;
