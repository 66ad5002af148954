// Violates the layer rule `schema-base-below-nouns` on purpose (`test/house/layer-rules.ts`).
export { field } from '../imports-a-missing-file.ts';
