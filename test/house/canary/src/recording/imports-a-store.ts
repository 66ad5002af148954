// Violates the layer rule `recording` on purpose (`test/house/layer-rules.ts`).
import type { Row } from '../persistence/imports-a-wire-format.ts';

export type Recorded = Row;
