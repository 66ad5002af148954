import { isJsonObject } from '../../../src/domain/json-object.ts';
import { isUtf8 } from 'node:buffer';
import { InvalidInput } from '../../../src/domain/errors.ts';
import { type RequestBody, ALL_PARSED } from '../../../src/domain/inference/request-validation.ts';
import { asBuffer } from '../../../src/wire/json/members.ts';
import { MAX_NESTING, nestsTooDeep } from '../../../src/wire/json/nesting.ts';
import { type PartiallyParsed, parsePartially } from '../../../src/wire/json/partial-parse.ts';
import type { HttpRequest } from './route.ts';

/** Above this size, in bytes, the nesting of a body is checked: deep nesting blocks the process. */
const NESTING_CHECK_BYTES = 128 * 1024;
/** From this size on, in bytes, large members of a body are parsed on first use. */
const LAZY_PARSE_BYTES = 8 * 1024;

/** Throws InvalidInput for a body that nests too deep. Needed where a recursion reads the body. */
export function assertNesting(bytes: Uint8Array): void {
  // A shorter body cannot open and close that many levels.
  if (bytes.length > 2 * MAX_NESTING && nestsTooDeep(bytes))
    throw invalidBody(`The request body nests more than ${MAX_NESTING} levels deep.`);
}

/** The JSON value of a body. Throws InvalidInput. */
export function parseValue(bytes: Uint8Array): unknown {
  assertUtf8(bytes);
  if (bytes.length > NESTING_CHECK_BYTES) assertNesting(bytes);
  try {
    return JSON.parse(asBuffer(bytes).toString('utf8'));
  } catch {
    throw invalidBody('The request body is not valid JSON.');
  }
}

/** The JSON object of a body. Throws InvalidInput. */
export function parseBody(bytes: Uint8Array): RequestBody {
  const value = parseValue(bytes);
  if (!isJsonObject(value)) throw invalidBody('The request body is not a JSON object.');
  return value;
}

/**
 * As `parseBody`, but large members of a large body are parsed on first use. `overrides` replace members of the body.
 */
export function parseLazily(
  request: Pick<HttpRequest, 'body' | 'parsesEagerly'>,
  overrides: RequestBody,
): PartiallyParsed {
  const bytes = request.body;
  const isLazy = bytes.length >= LAZY_PARSE_BYTES && request.parsesEagerly !== true;
  if (isLazy) assertUtf8(bytes);
  const partial = isLazy ? parsePartially(bytes, overrides) : null;
  return partial ?? fullyParsed(parseBody(bytes), overrides);
}

/**
 * Invalid UTF-8 is refused (RFC 8259): decoding replaces invalid bytes, so the gateway and the upstream would read
 * different texts.
 */
function assertUtf8(bytes: Uint8Array): void {
  if (!isUtf8(bytes)) throw invalidBody('The request body is not valid UTF-8.');
}

/** Stands for no overrides; compared by identity. */
export const NO_OVERRIDES: RequestBody = Object.freeze({});

/** A body with all members parsed. */
export const fullyParsed = (fields: RequestBody, overrides: RequestBody): PartiallyParsed => ({
  fields: overrides === NO_OVERRIDES ? fields : { ...fields, ...overrides },
  unread: ALL_PARSED,
});

const invalidBody = (message: string): InvalidInput =>
  new InvalidInput(message, [{ path: ['request_body'], rule: 'json', message }]);
