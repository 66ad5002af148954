import type { ModelRequest } from '../../domain/chat/chat.ts';
import { GATEWAY_FIELDS } from '../../domain/inference/gateway-fields.ts';

import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  CR,
  LF,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  SPACE,
  TAB,
} from './bytes.ts';
/** Position of one member of the outermost object in JSON text, in bytes. */
export interface Member {
  /** Key with its escapes resolved. */
  readonly key: string;
  /** Offset of the key's opening quote. */
  readonly start: number;
  readonly valueStart: number;
  /** Offset after the value's last byte. */
  readonly end: number;
}

/** The same bytes as a Buffer, for its native searches. Copies nothing. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Cached members of JSON texts, by their byte array. */
const MEMBER_CACHE = new WeakMap<Uint8Array, readonly Member[]>();

/** Caches the members of this byte array for `topLevelMembers`. The bytes must not change afterwards. */
export function cacheMembers(json: Uint8Array, members: readonly Member[]): void {
  MEMBER_CACHE.set(json, members);
}

/**
 * Members of the outermost object of JSON text, in order, repeated keys included. Null when the text is not an object.
 * Reads the structure only: values are not validated.
 */
export function topLevelMembers(json: Uint8Array): readonly Member[] | null {
  return MEMBER_CACHE.get(json) ?? searchMembers(asBuffer(json));
}

function searchMembers(bytes: Buffer): readonly Member[] | null {
  const members: Member[] = [];
  let at = afterSpace(bytes, 0);
  if (bytes[at] !== OPEN_BRACE) return null;
  at = afterSpace(bytes, at + 1);
  if (bytes[at] === CLOSE_BRACE) return members;
  for (;;) {
    const start = at;
    const keyEnd = bytes[at] === QUOTE ? afterString(bytes, at) : -1;
    if (keyEnd === -1) return null;
    at = afterSpace(bytes, keyEnd);
    if (bytes[at] !== COLON) return null;
    const valueStart = afterSpace(bytes, at + 1);
    const end = afterValue(bytes, valueStart);
    if (end === -1) return null;
    members.push({ key: keyText(bytes, start, keyEnd), start, valueStart, end });
    at = afterSpace(bytes, end);
    if (bytes[at] === CLOSE_BRACE) return members;
    if (bytes[at] !== COMMA) return null;
    at = afterSpace(bytes, at + 1);
  }
}

/** Number of items of an array member of the outermost object. Null when the member is missing or not an array. */
export function itemCount(json: Uint8Array, key: string): number | null {
  const bytes = asBuffer(json);
  const member = topLevelMembers(bytes)?.findLast((one) => one.key === key);
  if (member === undefined || bytes[member.valueStart] !== OPEN_BRACKET) return null;
  let at = afterSpace(bytes, member.valueStart + 1);
  if (bytes[at] === CLOSE_BRACKET) return 0;
  for (let count = 1; ; count += 1) {
    const end = afterValue(bytes, at);
    if (end === -1) return null;
    at = afterSpace(bytes, end);
    if (bytes[at] === CLOSE_BRACKET) return count;
    if (bytes[at] !== COMMA) return null;
    at = afterSpace(bytes, at + 1);
  }
}

/**
 * A JSON object with some members set (JSON text) or removed (null). All other values keep their bytes. Of a repeated
 * key only the last value stays, which is the value that the gateway has read. Otherwise an upstream that reads the
 * first value would answer a request that the gateway did not admit. Returns the same bytes when nothing changes, or
 * when the text is not an object.
 */
export function withMembers(json: Uint8Array, changes: Readonly<Record<string, string | null>>): Uint8Array {
  const bytes = asBuffer(json);
  const members = topLevelMembers(json);
  if (members === null || isUnchanged(bytes, members, changes)) return json;
  const lastByKey = new Map(members.map((member) => [member.key, member]));
  const pieces: Uint8Array[] = [];
  for (const member of members) {
    if (lastByKey.get(member.key) !== member) continue;
    const text = Object.hasOwn(changes, member.key) ? changes[member.key] : undefined;
    if (text === null) continue;
    pieces.push(pieces.length === 0 ? OPENING : SEPARATOR);
    if (text === undefined) pieces.push(bytes.subarray(member.start, member.end));
    else pieces.push(bytes.subarray(member.start, member.valueStart), Buffer.from(text));
  }
  for (const [key, text] of Object.entries(changes)) {
    if (text === null || lastByKey.has(key)) continue;
    pieces.push(pieces.length === 0 ? OPENING : SEPARATOR, Buffer.from(`${JSON.stringify(key)}:${text}`));
  }
  pieces.push(pieces.length === 0 ? EMPTY_OBJECT : CLOSING);
  return Buffer.concat(pieces);
}

/** Up to this many members, comparing all pairs costs less than a Set of the keys. Most requests have fewer. */
const MAX_COMPARED_MEMBERS = 16;

/** Whether the changes have no effect, and no key is repeated. */
function isUnchanged(
  bytes: Buffer,
  members: readonly Member[],
  changes: Readonly<Record<string, string | null>>,
): boolean {
  for (const key in changes) {
    const member = memberOf(members, key);
    const current = member === null ? null : bytes.toString('utf8', member.valueStart, member.end);
    if (current !== changes[key]) return false;
  }
  return !hasRepeatedKey(members);
}

/** The first member with this key. Null when there is none. */
function memberOf(members: readonly Member[], key: string): Member | null {
  for (const member of members) if (member.key === key) return member;
  return null;
}

function hasRepeatedKey(members: readonly Member[]): boolean {
  if (members.length > MAX_COMPARED_MEMBERS) return new Set(members.map(({ key }) => key)).size < members.length;
  for (const member of members) if (memberOf(members, member.key) !== member) return true;
  return false;
}

const OPENING = Buffer.from('{');
const SEPARATOR = Buffer.from(',');
const CLOSING = Buffer.from('}');
const EMPTY_OBJECT = Buffer.from('{}');

function afterSpace(bytes: Buffer, from: number): number {
  let at = from;
  for (;;) {
    const byte = bytes[at];
    if (byte !== SPACE && byte !== LF && byte !== CR && byte !== TAB) return at;
    at += 1;
  }
}

/** Bytes that are compared one by one before the native search, whose call costs more than a short string. */
const SHORT_STRING_BYTES = 64;

/** Offset after the string that opens at `from`. -1 when the string is not closed. */
function afterString(bytes: Buffer, from: number): number {
  let at = from + 1;
  for (;;) {
    const shortEnd = at + SHORT_STRING_BYTES;
    while (at < shortEnd) {
      const byte = bytes[at];
      if (byte === QUOTE) return at + 1;
      if (byte === undefined) return -1;
      at += byte === BACKSLASH ? 2 : 1;
    }
    const quote = bytes.indexOf(QUOTE, at);
    if (quote === -1) return -1;
    // The native search ignores escapes. A quote after an odd number of backslashes is escaped.
    let before = quote - 1;
    while (before >= at && bytes[before] === BACKSLASH) before -= 1;
    const backslashes = quote - 1 - before;
    if (backslashes % 2 === 0) return quote + 1;
    at = quote + 1;
  }
}

/** Offset after the value that begins at `from`. -1 when the value is incomplete. */
function afterValue(bytes: Buffer, from: number): number {
  const first = bytes[from];
  if (first === QUOTE) return afterString(bytes, from);
  if (first !== OPEN_BRACE && first !== OPEN_BRACKET) return afterScalar(bytes, from);
  let depth = 0;
  let at = from;
  while (at < bytes.length) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      at = afterString(bytes, at);
      if (at === -1) return -1;
      continue;
    }
    at += 1;
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth += 1;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      depth -= 1;
      if (depth === 0) return at;
    }
  }
  return -1;
}

function afterScalar(bytes: Buffer, from: number): number {
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET || (byte ?? 0) <= SPACE)
      return at === from ? -1 : at;
  }
  return -1;
}

/** Text of a quoted key. A key with invalid escapes stays unchanged, quotes included. */
export function keyText(bytes: Buffer, start: number, end: number): string {
  const quoted = bytes.toString('utf8', start, end);
  if (!quoted.includes('\\')) return quoted.slice(1, -1);
  try {
    return String(JSON.parse(quoted));
  } catch {
    return quoted;
  }
}

/** Returns a JSON object with another model name. Returns the same bytes when nothing changes. */
export type ModelRewriter = (json: Buffer) => Buffer;

/**
 * Creates a function that replaces the upstream's model name in answers by the name that the caller sent. Chunks of one
 * answer have the same prefix, up to and including the model name. The prefix and its replacement are cached, so that
 * later chunks with this prefix need no search.
 */
export function createModelRewriter(model: string): ModelRewriter {
  const modelJson = Buffer.from(JSON.stringify(model));
  let knownPrefix: Buffer | null = null;
  /** Replacement of `knownPrefix`. Null when the prefix already has the caller's model name. */
  let newPrefix: Buffer | null = null;
  return (json) => {
    if (knownPrefix === null || !startsWith(json, knownPrefix)) {
      const modelMembers = topLevelMembers(json)?.filter(({ key }) => key === 'model') ?? [];
      const [member] = modelMembers;
      if (member === undefined) return json;
      // With a repeated `model` key no prefix can be cached.
      if (modelMembers.length > 1) return asBuffer(withMembers(json, { model: modelJson.toString('utf8') }));
      knownPrefix = Buffer.from(json.subarray(0, member.end));
      newPrefix = modelJson.equals(json.subarray(member.valueStart, member.end))
        ? null
        : Buffer.concat([json.subarray(0, member.valueStart), modelJson]);
    }
    return newPrefix === null ? json : Buffer.concat([newPrefix, json.subarray(knownPrefix.length)]);
  };
}

/** Prefixes up to this size, in bytes, are compared one byte at a time: a native call costs more. */
const SHORT_PREFIX_BYTES = 128;

export function startsWith(bytes: Buffer, prefix: Buffer): boolean {
  const { length } = prefix;
  if (bytes.length < length) return false;
  if (length > SHORT_PREFIX_BYTES) return bytes.compare(prefix, 0, length, 0, length) === 0;
  for (let at = 0; at < length; at += 1) if (bytes[at] !== prefix[at]) return false;
  return true;
}

/**
 * Parsed JSON object whose array member `bulkKey` is replaced by an empty array. Vectors and images are megabytes that
 * the gateway does not read. Undefined when the bytes are not a JSON object. The content of the array is not validated.
 */
export function outlineOf(json: Uint8Array, bulkKey: string): unknown {
  const bytes = asBuffer(json);
  const members = topLevelMembers(bytes);
  if (members === null) return undefined;
  const afterMembers = bytes.toString('latin1', members.at(-1)?.end ?? 0).replace(/\s/g, '');
  if (afterMembers !== (members.length === 0 ? '{}' : '}')) return undefined;
  try {
    return Object.fromEntries(members.map((member) => [member.key, valueOf(bytes, member, bulkKey)]));
  } catch {
    return undefined;
  }
}

function valueOf(bytes: Buffer, { key, valueStart, end }: Member, bulkKey: string): unknown {
  if (key === bulkKey && bytes[valueStart] === OPEN_BRACKET) return [];
  return JSON.parse(bytes.toString('utf8', valueStart, end));
}

/**
 * Changes of a request for its upstream, in the form of `withMembers`. Removes the gateway fields and applies
 * `replaced`.
 */
export function upstreamChanges({
  body,
  replaced = {},
}: Pick<ModelRequest, 'body' | 'replaced'>): Record<string, string | null> {
  const changes: Record<string, string | null> = {};
  for (const member in replaced) {
    const value = replaced[member];
    changes[member] = value === undefined ? null : JSON.stringify(value);
  }
  for (const field of GATEWAY_FIELDS) if (body[field] !== undefined) changes[field] = null;
  return changes;
}
