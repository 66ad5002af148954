import type { ResponseCache } from '../../src/domain/response-cache/response-cache.ts';
import { createResponseCache } from '../../src/runtime/response-cache/create-response-cache.ts';

/** A cache of answers that is off. */
export const NO_RESPONSE_CACHE: ResponseCache = createResponseCache({
  connect: () => Promise.reject(new Error('No server is configured.')),
  serverOf: () => null,
  nowMs: () => 0,
  changed: () => undefined,
});
