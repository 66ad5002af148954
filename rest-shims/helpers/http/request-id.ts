import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { callerId } from '../../../src/domain/calls/caller-id.ts';
import type { Outgoing } from './outgoing.ts';

/** Header that carries the id of a request, in requests and answers. */
export const REQUEST_ID_HEADER = 'x-request-id';

/** The client's own request id if it sent a valid one, else a new UUID. Several header lines are joined by `, ` and are not valid. */
export function requestIdOf(headers: IncomingHttpHeaders): string {
  const input = headers[REQUEST_ID_HEADER];
  return input === undefined ? randomUUID() : (callerId(input) ?? randomUUID());
}

/** The request id that an answer carries; null before one is assigned. */
export function assignedRequestId(response: Pick<Outgoing, 'getHeader'>): string | null {
  return response.getHeader(REQUEST_ID_HEADER)?.toString() ?? null;
}
