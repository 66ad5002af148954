import { isJsonObject } from '../../domain/json-object.ts';
import { type JsonObject } from './json-text.ts';
import { idOf } from './decode-json.ts';
import { cursorOver, type ProtoCursor, readHex, readLength, readVarint, skipField } from './protobuf.ts';

/**
 * Erases all spans of these traces from an accepted export, repeated spans included. Also erases each resource and
 * scope without a remaining span. Other spans keep their positions: a blank span still counts, but must not be decoded.
 * Returns a new body.
 */
export function blankSpans(body: Uint8Array, format: 'protobuf' | 'json', traceIds: readonly string[]): Uint8Array {
  const removed = new Set(traceIds);
  return format === 'json' ? blankJson(body, removed) : blankProtobuf(body, removed);
}

/** Byte range of a message in a body. */
interface ByteRange {
  readonly from: number;
  readonly to: number;
}

/** A resource or scope with its spans. */
interface Group {
  /** Byte ranges of the resource or scope. Protobuf may split one message into several fields. */
  readonly owners: ByteRange[];
  /** Whether a span remains. */
  hasSpans: boolean;
}

/** Field 1 of the export: a ResourceSpans. */
const RESOURCE_SPANS_TAG = 0x0a;
// In ResourceSpans and ScopeSpans, field 1 is the resource or scope, and field 2 is its content.
const OWNER_TAG = 0x0a;
const CONTENT_TAG = 0x12;

function blankProtobuf(body: Uint8Array, removed: ReadonlySet<string>): Uint8Array {
  const blanked = new Uint8Array(body);
  const cursor = cursorOver(body);

  /** Blanks the spans of a group up to `end`, and its owner when no span remains. Returns whether a span remains. */
  function blankGroup(end: number, blankContent: (contentEnd: number) => boolean): boolean {
    const group: Group = { owners: [], hasSpans: false };
    while (cursor.at < end) {
      const tag = readVarint(cursor, end);
      if (tag !== OWNER_TAG && tag !== CONTENT_TAG) {
        skipField(cursor, tag, end);
        continue;
      }
      const to = readLength(cursor, end);
      if (tag === OWNER_TAG) group.owners.push({ from: cursor.at, to });
      else if (blankContent(to)) group.hasSpans = true;
      cursor.at = to;
    }
    if (!group.hasSpans) for (const { from, to } of group.owners) blankOwner(blanked, from, to);
    return group.hasSpans;
  }

  function blankSpan(end: number): boolean {
    const from = cursor.at;
    if (isBlank(cursor, end)) return false;
    if (!removed.has(traceIdIn(cursor, end))) return true;
    blanked.fill(0, from, end);
    return false;
  }

  while (cursor.at < body.length) {
    const tag = readVarint(cursor, body.length);
    if (tag === RESOURCE_SPANS_TAG)
      blankGroup(readLength(cursor, body.length), (scopeEnd) => blankGroup(scopeEnd, (spanEnd) => blankSpan(spanEnd)));
    else skipField(cursor, tag, body.length);
  }
  return blanked;
}

/** Whether the span is already blank. Zero is not a valid tag. */
const isBlank = ({ bytes, at }: ProtoCursor, end: number): boolean => at === end || bytes[at] === 0;

/** Trace id of a span: its field 1, in hex. */
function traceIdIn(cursor: ProtoCursor, end: number): string {
  let traceId = '';
  while (cursor.at < end) {
    const tag = readVarint(cursor, end);
    if (tag === 0x0a) traceId = readHex(cursor, readLength(cursor, end));
    else skipField(cursor, tag, end);
  }
  return traceId;
}

/** Tag of a length-delimited field that resources and scopes do not have. */
const UNKNOWN_BYTES = 0x7a;

/** Overwrites a resource or scope with one unknown field of zeros, so that decoders still accept the message. */
function blankOwner(bytes: Uint8Array, from: number, to: number): void {
  // A message has no content or at least two bytes. An empty one needs no change.
  if (to - from < 2) return;
  bytes.fill(0, from, to);
  bytes[from] = UNKNOWN_BYTES;
  // The varint of the length is padded, so that the field ends where the message ends.
  const remaining = to - from - 1;
  const digits = [1, 2, 3, 4].find((count) => remaining - count < 0x80 ** count) ?? 5;
  let length = remaining - digits;
  for (let digit = 0; digit < digits; digit += 1) {
    bytes[from + 1 + digit] = (length % 0x80) + (digit < digits - 1 ? 0x80 : 0);
    length = Math.floor(length / 0x80);
  }
}

/** `JSON.rawJSON`, which the types of TypeScript do not declare. It keeps the digits of 64-bit integers. */
interface RawJson {
  rawJSON(text: string): unknown;
}

function blankJson(body: Uint8Array, removed: ReadonlySet<string>): Uint8Array {
  const { rawJSON } = JSON as unknown as RawJson;
  const request: unknown = JSON.parse(
    new TextDecoder().decode(body),
    (_name, value: unknown, context?: { readonly source?: string }) =>
      typeof value === 'number' && context?.source !== undefined ? rawJSON(context.source) : value,
  );
  for (const resourceSpans of listIn(request, 'resourceSpans')) {
    let resourceHasSpans = false;
    for (const scopeSpans of listIn(resourceSpans, 'scopeSpans')) {
      const spans = listIn(scopeSpans, 'spans').map((span) => (isRemoved(span, removed) ? {} : span));
      const hasSpans = spans.some((span) => isJsonObject(span) && Object.keys(span).length > 0);
      if (isJsonObject(scopeSpans)) Object.assign(scopeSpans, { spans }, hasSpans ? {} : { scope: {} });
      resourceHasSpans ||= hasSpans;
    }
    if (!resourceHasSpans && isJsonObject(resourceSpans)) Object.assign(resourceSpans, { resource: {} });
  }
  return new TextEncoder().encode(JSON.stringify(request));
}

const isRemoved = (span: unknown, removed: ReadonlySet<string>): boolean =>
  isJsonObject(span) && removed.has(idOf(span['traceId'], 16, 'traceId'));

function listIn(value: unknown, name: keyof JsonObject): readonly unknown[] {
  const list = isJsonObject(value) ? value[name] : undefined;
  return Array.isArray(list) ? list : [];
}
