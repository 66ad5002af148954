// Violates the layer rules `runtime` and `composition-root-is-not-imported` on purpose (`test/house/layer-rules.ts`).
import { app } from '../app.ts';

export const loop = app;
