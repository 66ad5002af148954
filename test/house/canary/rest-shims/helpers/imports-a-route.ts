// Violates the layer rule `rest-shims-helpers-below-routes` on purpose (`test/house/layer-rules.ts`).
export { answer } from '../imports-schema.ts';
