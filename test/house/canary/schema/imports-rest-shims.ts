// Breaks `schema`.
import { answer } from '../rest-shims/imports-schema.ts';

export const field = answer;
