import type { GraphQLParams } from 'graphql-yoga';
import type { IncomingMessage } from 'node:http';
import { MAX_NESTING } from '../../schema/base/document-limits.ts';
import { MAX_VARIABLE_VALUES } from '../../schema/base/limits.ts';
import { InvalidInput, TooLarge, Unsupported } from '../domain/errors.ts';

/** Media type that a page of any origin may send without a preflight. GraphQL clients do not use it. */
const FORM = /^\s*application\/x-www-form-urlencoded\b/i;

/**
 * Refuses forms, which pages of other origins can send, and query parameters with invalid JSON, which Yoga would report
 * as an internal error. Throws Unsupported and InvalidInput.
 */
export function assertReadable({ headers, url = '' }: IncomingMessage): void {
  if (FORM.test(headers['content-type'] ?? '')) throw new Unsupported('Send the operation as application/json.');
  const mark = url.indexOf('?');
  if (mark === -1) return;
  const search = new URLSearchParams(url.slice(mark));
  for (const name of ['variables', 'extensions']) {
    const text = search.get(name);
    if (text && !isJson(text)) throw new InvalidInput(`The query parameter \`${name}\` is not valid JSON.`);
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Refuses a request that names its document by a hash alone. Apollo Client and urql know the message and send the
 * document. Throws Unsupported.
 */
export function assertHasDocument({ query, extensions }: GraphQLParams): void {
  if (!query && typeof extensions === 'object' && extensions !== null && 'persistedQuery' in extensions)
    throw new Unsupported('PersistedQueryNotSupported');
}

/** Smaller bodies are not scanned, because they are cheap to parse. */
const CHEAP_BYTES = 64 * 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);

/**
 * Refuses JSON that certainly has more values or deeper nesting than variables may have. Counts commas and opening
 * brackets, because each value adds at most one of each. Bodies of other media types pass. Scans the bytes without
 * parsing and stops at the limit. `envelopes` is the number of objects around the request. Throws TooLarge.
 */
export function assertJsonSize({ headers }: Pick<IncomingMessage, 'headers'>, body: Uint8Array, envelopes = 0): void {
  if (body.length < CHEAP_BYTES || !headers['content-type']?.includes('json')) return;
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  let commasAndBrackets = 0;
  let depth = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) at = endOfText(bytes, at + 1);
    else if (OPENING.has(byte)) {
      depth += 1;
      commasAndBrackets += 1;
    } else if (CLOSING.has(byte)) depth -= 1;
    else if (byte === COMMA) commasAndBrackets += 1;
    if (commasAndBrackets > 2 * MAX_VARIABLE_VALUES)
      throw new TooLarge(`The request holds more than ${MAX_VARIABLE_VALUES} values.`, MAX_VARIABLE_VALUES);
    // The request and its variables are two levels.
    if (depth > MAX_NESTING + 2 + envelopes)
      throw new TooLarge(`The request nests deeper than ${MAX_NESTING}.`, MAX_NESTING);
  }
}

/** Index of the closing quote of a JSON string; the end when there is none. */
function endOfText(bytes: Buffer, start: number): number {
  for (let end = bytes.indexOf(QUOTE, start); end !== -1; end = bytes.indexOf(QUOTE, end + 1)) {
    let escapes = 0;
    while (bytes[end - 1 - escapes] === BACKSLASH && end - escapes > start) escapes += 1;
    if (escapes % 2 === 0) return end;
  }
  return bytes.length;
}
