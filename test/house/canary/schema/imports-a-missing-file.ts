// Violates the layer rule `no-unresolved` on purpose (`test/house/layer-rules.ts`).
import { nothing } from '../resolvers/was-never-written.ts';

export const field = nothing;
