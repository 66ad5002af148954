// Breaks `runtime` and `composition-root-is-not-imported`.
import { app } from '../app.ts';

export const loop = app;
