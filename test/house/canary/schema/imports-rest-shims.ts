// Breaks `schema` and `no-circular`.
import { answer } from '../rest-shims/imports-schema.ts';

export const field = answer;
