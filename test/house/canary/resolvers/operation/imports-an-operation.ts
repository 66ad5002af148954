// Breaks `operation-helpers-below-operations`.
export { nothing } from '../imports-a-test.ts';
