// Breaks `rest-shims-helpers-below-routes`.
export { answer } from '../imports-schema.ts';
