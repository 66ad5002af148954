import { isJsonObject } from '../../domain/json-object.ts';
import { type JsonObject } from './json-text.ts';
import { idOf } from './decode-json.ts';
import { cursorOver, type ProtoCursor, readHex, readLength, readVarint, skipField } from './protobuf.ts';
import { EXPORT_RESOURCE_SPANS, RESOURCE_SPANS_RESOURCE, RESOURCE_SPANS_SCOPE_SPANS, SPAN_TRACE_ID } from './tags.ts';

/**
 * Erases all spans of these traces from an accepted export, repeated spans included. Also erases each resource and
 * scope without a remaining span. An erased span becomes a blank one, so that other spans keep their positions. Blank
 * spans must not be decoded. Returns a new body.
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

/** Spans with their parent, which is a resource or a scope. */
interface Group {
  /** Byte ranges of the parent. Protobuf may split one message into several fields. */
  readonly parentRanges: ByteRange[];
  /** Whether a span remains. */
  hasSpans: boolean;
}

/** Tag of the parent of a group: the resource of ResourceSpans, or the scope of ScopeSpans. Both have this tag. */
const PARENT_TAG = RESOURCE_SPANS_RESOURCE;
/** Tag of the content of a group: the ScopeSpans of a resource, or the spans of a scope. Both have this tag. */
const CONTENT_TAG = RESOURCE_SPANS_SCOPE_SPANS;

function blankProtobuf(body: Uint8Array, removed: ReadonlySet<string>): Uint8Array {
  const blanked = new Uint8Array(body);
  const cursor = cursorOver(body);

  /** Blanks the spans of a group up to `end`, and its parent when no span remains. Returns whether a span remains. */
  function blankGroup(end: number, blankContent: (contentEnd: number) => boolean): boolean {
    const group: Group = { parentRanges: [], hasSpans: false };
    while (cursor.at < end) {
      const tag = readVarint(cursor, end);
      if (tag !== PARENT_TAG && tag !== CONTENT_TAG) {
        skipField(cursor, tag, end);
        continue;
      }
      const to = readLength(cursor, end);
      if (tag === PARENT_TAG) group.parentRanges.push({ from: cursor.at, to });
      else if (blankContent(to)) group.hasSpans = true;
      cursor.at = to;
    }
    if (!group.hasSpans) for (const { from, to } of group.parentRanges) blankParent(blanked, from, to);
    return group.hasSpans;
  }

  /** Blanks the span up to `end` if its trace is removed. Returns whether the span remains. */
  function blankSpan(end: number): boolean {
    const from = cursor.at;
    if (isBlank(cursor, end)) return false;
    if (!removed.has(traceIdIn(cursor, end))) return true;
    blanked.fill(0, from, end);
    return false;
  }

  while (cursor.at < body.length) {
    const tag = readVarint(cursor, body.length);
    if (tag === EXPORT_RESOURCE_SPANS)
      blankGroup(readLength(cursor, body.length), (scopeEnd) => blankGroup(scopeEnd, (spanEnd) => blankSpan(spanEnd)));
    else skipField(cursor, tag, body.length);
  }
  return blanked;
}

/** Whether the span is already blank. Zero is not a valid tag. */
const isBlank = ({ bytes, at }: ProtoCursor, end: number): boolean => at === end || bytes[at] === 0;

/** Trace id of a span, in hex. */
function traceIdIn(cursor: ProtoCursor, end: number): string {
  let traceId = '';
  while (cursor.at < end) {
    const tag = readVarint(cursor, end);
    if (tag === SPAN_TRACE_ID) traceId = readHex(cursor, readLength(cursor, end));
    else skipField(cursor, tag, end);
  }
  return traceId;
}

/** Tag of a length-delimited field that resources and scopes do not have. */
const UNKNOWN_FIELD_TAG = 0x7a;

/** Overwrites a resource or scope with one unknown field of zeros, so that decoders still accept the message. */
function blankParent(bytes: Uint8Array, from: number, to: number): void {
  // A message that is not empty has at least two bytes: a tag and a value. An empty message needs no change.
  if (to - from < 2) return;
  bytes.fill(0, from, to);
  bytes[from] = UNKNOWN_FIELD_TAG;
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
