// Violates the layer rules `rest-shims` and `no-circular` on purpose (`test/house/layer-rules.ts`).
import { field } from '../schema/imports-rest-shims.ts';

export const answer = field;
