import { InvalidInput } from '../../src/domain/errors.ts';
import type { RequestBody } from '../../src/domain/inference/askable.ts';
import { MAX_NESTING, nestsTooDeep } from '../../src/wire/json/nesting.ts';
import { type PartiallyParsed, parsePartially } from '../../src/wire/json/unread.ts';

/** Bytes in which no nesting can be deep enough to hold the process up. */
const SMALL_BODY = 128 * 1024;
/** Bytes from which on reading a body in part costs less than all of it. */
const LARGE_BODY = 8 * 1024;

/** A request's body as a JSON object. Throws InvalidInput. */
export function parseBody(bytes: Uint8Array): RequestBody {
  if (bytes.length > SMALL_BODY && nestsTooDeep(bytes))
    throw notReadable(`The request body nests more than ${MAX_NESTING} levels deep.`);
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'));
  } catch {
    throw notReadable('The request body is not valid JSON.');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw notReadable('The request body is not a JSON object.');
  return value as RequestBody;
}

/** The same, its large members not parsed before they are asked for; what `named` says is meant, whatever was sent. */
export function parseInPart(bytes: Uint8Array, named: RequestBody): PartiallyParsed {
  const partly = bytes.length < LARGE_BODY ? null : parsePartially(bytes, named);
  return partly ?? wholly(parseBody(bytes), named);
}

/** A body of which nothing is left unread. */
export const wholly = (fields: RequestBody, named: RequestBody): PartiallyParsed => ({
  fields: { ...fields, ...named },
  unread: NOTHING,
});

const NOTHING: PartiallyParsed['unread'] = new Map();

const notReadable = (message: string): InvalidInput =>
  new InvalidInput(message, [{ path: ['request_body'], rule: 'json', message }]);
