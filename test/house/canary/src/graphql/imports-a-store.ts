// Violates the layer rule `graphql` on purpose (`test/house/layer-rules.ts`).
import type { Row } from '../persistence/imports-a-wire-format.ts';

export type Result = Row;
