// Breaks `rest-shims-nouns-apart`.
export { answer } from './imports-schema.ts';
