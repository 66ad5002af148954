// Violates the layer rules `schema` and `no-circular` on purpose (`test/house/layer-rules.ts`).
import { answer } from '../rest-shims/imports-schema.ts';

export const field = answer;
