import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Outgoing } from './outgoing.ts';

/** Header that carries the id of a request, in requests and answers. */
export const REQUEST_ID_HEADER = 'x-request-id';

/** Visible ASCII, 1 to 200 characters. Several header lines are joined by `, ` and do not match. */
const FORM = /^[\x21-\x7e]{1,200}$/;

/** The client's own request id if it sent a valid one, else a new UUID. */
export function requestIdOf(headers: IncomingHttpHeaders): string {
  const sent = headers[REQUEST_ID_HEADER];
  return typeof sent === 'string' && FORM.test(sent) ? sent : randomUUID();
}

/** The request id that an answer carries; null before one is assigned. */
export function assignedRequestId(response: Pick<Outgoing, 'getHeader'>): string | null {
  return response.getHeader(REQUEST_ID_HEADER)?.toString() ?? null;
}
