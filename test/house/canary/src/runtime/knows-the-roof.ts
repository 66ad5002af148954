// Breaks `runtime` and `roof-is-unseen`.
import { roof } from '../app.ts';

export const loop = roof;
