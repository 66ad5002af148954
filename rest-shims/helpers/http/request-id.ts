import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { callerId } from '../../../src/domain/calls/caller-id.ts';
import type { Outgoing } from './outgoing.ts';

/** Header that carries the id of a request, in requests and answers. */
export const REQUEST_ID_HEADER = 'x-request-id';

/** Number of ids in a batch. Generating a batch allocates fewer short strings than generating single ids. */
const IDS_PER_BATCH = 64;
const UUID_CHARACTERS = 36;
const UUID_BYTES = 16;
/** Matches 32 hex digits. The groups exclude the digits of version and variant. */
const DIGITS = /(.{8})(.{4}).(.{3}).(.{3})(.{12})/g;
let batch = '';
let offset = 0;

/** A random UUID of version 4. */
function newRequestId(): string {
  if (offset === batch.length) {
    batch = randomBytes(UUID_BYTES * IDS_PER_BATCH)
      .toString('hex')
      .replaceAll(DIGITS, '$1-$2-4$3-a$4-$5');
    offset = 0;
  }
  const id = batch.slice(offset, offset + UUID_CHARACTERS);
  offset += UUID_CHARACTERS;
  return id;
}

/**
 * The request id of the client if it is valid, else a new UUID. Several header lines are joined by `, `, which is not
 * valid.
 */
export function requestIdOf(headers: IncomingHttpHeaders): string {
  const input = headers[REQUEST_ID_HEADER];
  return (input === undefined ? null : callerId(input)) ?? newRequestId();
}

/** The request id in the headers of an answer; null before one is assigned. */
export function assignedRequestId(response: Pick<Outgoing, 'getHeader'>): string | null {
  return response.getHeader(REQUEST_ID_HEADER)?.toString() ?? null;
}
