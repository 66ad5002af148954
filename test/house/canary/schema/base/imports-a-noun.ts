// Breaks `schema-base-below-nouns`.
export { field } from '../imports-a-missing-file.ts';
