// Violates the layer rule `operation-helpers-below-operations` on purpose (`test/house/layer-rules.ts`).
export { nothing } from '../imports-a-test.ts';
