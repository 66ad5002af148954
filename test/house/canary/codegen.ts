// Violates the layer rule `codegen` on purpose (`test/house/layer-rules.ts`).
import { call } from './src/providers/imports-an-http-client.ts';

export const generator = call;
