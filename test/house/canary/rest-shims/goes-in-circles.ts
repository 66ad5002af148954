// Breaks `rest-shims` and `no-circular`.
import { field } from '../schema/sees-the-other-door.ts';

export const answer = field;
