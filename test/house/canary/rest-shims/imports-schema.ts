// Breaks `rest-shims` and `no-circular`.
import { field } from '../schema/imports-rest-shims.ts';

export const answer = field;
