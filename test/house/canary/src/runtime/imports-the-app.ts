// Breaks `runtime` and `composition-root-is-not-imported`.
import { roof } from '../app.ts';

export const loop = roof;
