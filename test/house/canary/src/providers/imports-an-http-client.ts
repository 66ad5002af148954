// Violates the layer rule `providers` on purpose (`test/house/layer-rules.ts`).
// Providers get the HTTP client as an argument.
import { request } from 'undici';

export const call = request;
