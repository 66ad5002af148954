// Breaks `gateway-parts-below-calls`.
export { call } from '../calls/call.ts';
