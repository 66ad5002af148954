import { isJsonObject } from '../../../src/domain/json-object.ts';
import { isUtf8 } from 'node:buffer';
import { InvalidInput } from '../../../src/domain/errors.ts';
import { type RequestBody, ALL_PARSED } from '../../../src/domain/inference/request-validation.ts';
import { asBuffer } from '../../../src/wire/json/members.ts';
import { MAX_NESTING, nestsTooDeep } from '../../../src/wire/json/nesting.ts';
import { type PartiallyParsed, parsePartially } from '../../../src/wire/json/partial-parse.ts';
import type { HttpRequest } from './route.ts';

/** Up to this size, in bytes, a body cannot nest deep enough to block the process. */
const SMALL_BODY = 128 * 1024;
/** From this size on, in bytes, parsing a part of a body costs less than parsing it whole. */
const LARGE_BODY = 8 * 1024;

/** A request's body as any JSON value. Throws InvalidInput. */
export function parseValue(bytes: Uint8Array): unknown {
  assertUtf8(bytes);
  if (bytes.length > SMALL_BODY && nestsTooDeep(bytes))
    throw notReadable(`The request body nests more than ${MAX_NESTING} levels deep.`);
  try {
    return JSON.parse(asBuffer(bytes).toString('utf8'));
  } catch {
    throw notReadable('The request body is not valid JSON.');
  }
}

/** A request's body as a JSON object. Throws InvalidInput. */
export function parseBody(bytes: Uint8Array): RequestBody {
  const value = parseValue(bytes);
  if (!isJsonObject(value)) throw notReadable('The request body is not a JSON object.');
  return value;
}

/** As `parseBody`, with large members parsed on first use; members of `named` override those that were sent. */
export function parseInPart(
  { body: bytes, parsesWhole }: Pick<HttpRequest, 'body' | 'parsesWhole'>,
  named: RequestBody,
): PartiallyParsed {
  const scans = bytes.length >= LARGE_BODY && parsesWhole !== true;
  if (scans) assertUtf8(bytes);
  const partly = scans ? parsePartially(bytes, named) : null;
  return partly ?? fullyParsed(parseBody(bytes), named);
}

/** RFC 8259 requires UTF-8. Decoding would replace invalid bytes, and the upstream would get other bytes than were parsed. */
function assertUtf8(bytes: Uint8Array): void {
  if (!isUtf8(bytes)) throw notReadable('The request body is not valid UTF-8.');
}

/** No members beside those of a body. */
export const NOTHING_NAMED: RequestBody = Object.freeze({});

/** A body of which no member is unread. */
export const fullyParsed = (fields: RequestBody, named: RequestBody): PartiallyParsed => ({
  fields: named === NOTHING_NAMED ? fields : { ...fields, ...named },
  unread: ALL_PARSED,
});

const notReadable = (message: string): InvalidInput =>
  new InvalidInput(message, [{ path: ['request_body'], rule: 'json', message }]);
