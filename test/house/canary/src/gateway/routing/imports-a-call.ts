// Violates the layer rule `gateway-parts-below-calls` on purpose (`test/house/layer-rules.ts`).
export { call } from '../calls/call.ts';
