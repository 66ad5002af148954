import { REQUEST_ID_HEADER, requestIdOf } from '../../rest-shims/helpers/http/request-id.ts';
import type { Incoming, Outgoing } from '../../rest-shims/helpers/http/outgoing.ts';

/** Headers of every answer that browsers obey: no guessed content types, no frames, no referrer. */
export const SECURITY_HEADERS: readonly (readonly [name: string, value: string])[] = [
  ['x-content-type-options', 'nosniff'],
  ['x-frame-options', 'DENY'],
  ['referrer-policy', 'no-referrer'],
];

/** Sets the headers that every answer has: the request id and the security headers. Answers of the fast path begin with the latter. */
export function setCommonHeaders(request: Incoming, response: Outgoing): void {
  response.setHeader(REQUEST_ID_HEADER, requestIdOf(request.headers));
  for (const [name, value] of SECURITY_HEADERS) response.setHeader(name, value);
}
