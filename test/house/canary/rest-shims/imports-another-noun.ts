// Violates the layer rule `rest-shims-nouns-apart` on purpose (`test/house/layer-rules.ts`).
export { answer } from './imports-schema.ts';
