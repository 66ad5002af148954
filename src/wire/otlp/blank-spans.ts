import { isObject, type JsonObject } from './json-text.ts';
import { idOf } from './json-values.ts';
import { cursorOver, type ProtoCursor, readHex, readLength, readVarint, skipField } from './protobuf.ts';

/**
 * A body that was accepted before, with nothing left of the spans of these traces: not of one that came a second time,
 * either, and not of a resource or scope that no other span has. The others keep their positions: what is left of a
 * span is stepped over, and may not be decoded.
 */
export function blankSpans(body: Uint8Array, format: 'protobuf' | 'json', traceIds: readonly string[]): Uint8Array {
  const gone = new Set(traceIds);
  return format === 'json' ? blankJson(body, gone) : blankProtobuf(body, gone);
}

/** Where a message stands in a body. */
interface Place {
  readonly from: number;
  readonly to: number;
}

/** What is known of a group of spans once it has been read. */
interface Group {
  /** Its resource or scope, which may come in several parts. */
  readonly holders: Place[];
  /** Whether it has a span that stays. */
  hasSpans: boolean;
}

// Of a resource and of a scope in it the holder is field 1, and what belongs to it field 2.
const HOLDER = 0x0a;
const MEMBER = 0x12;

function blankProtobuf(body: Uint8Array, gone: ReadonlySet<string>): Uint8Array {
  const blanked = new Uint8Array(body);
  const cursor = cursorOver(body);

  /** Reads a group to its end; gives whether it has a span that stays. */
  function blankGroup(end: number, blankMember: (memberEnd: number) => boolean): boolean {
    const group: Group = { holders: [], hasSpans: false };
    while (cursor.at < end) {
      const tag = readVarint(cursor, end);
      if (tag !== HOLDER && tag !== MEMBER) {
        skipField(cursor, tag, end);
        continue;
      }
      const to = readLength(cursor, end);
      if (tag === HOLDER) group.holders.push({ from: cursor.at, to });
      else if (blankMember(to)) group.hasSpans = true;
      cursor.at = to;
    }
    if (!group.hasSpans) for (const { from, to } of group.holders) fillHolder(blanked, from, to);
    return group.hasSpans;
  }

  function blankSpan(end: number): boolean {
    const from = cursor.at;
    if (isBlank(cursor, end)) return false;
    if (!gone.has(traceIdIn(cursor, end))) return true;
    blanked.fill(0, from, end);
    return false;
  }

  while (cursor.at < body.length) {
    const tag = readVarint(cursor, body.length);
    if (tag === HOLDER)
      blankGroup(readLength(cursor, body.length), (scopeEnd) => blankGroup(scopeEnd, (spanEnd) => blankSpan(spanEnd)));
    else skipField(cursor, tag, body.length);
  }
  return blanked;
}

/** Zero is no field's tag: such a span was blanked before. */
const isBlank = ({ bytes, at }: ProtoCursor, end: number): boolean => at === end || bytes[at] === 0;

function traceIdIn(cursor: ProtoCursor, end: number): string {
  let traceId = '';
  while (cursor.at < end) {
    const tag = readVarint(cursor, end);
    if (tag === 0x0a) traceId = readHex(cursor, readLength(cursor, end));
    else skipField(cursor, tag, end);
  }
  return traceId;
}

/** A field of bytes that no reader knows. */
const UNKNOWN_BYTES = 0x7a;

/** Overwrites a message that is decoded with its body: what it becomes is one unknown field of zeros. */
function fillHolder(bytes: Uint8Array, from: number, to: number): void {
  // No message is one byte long, and an empty one says nothing.
  if (to - from < 2) return;
  bytes.fill(0, from, to);
  bytes[from] = UNKNOWN_BYTES;
  // As many bytes of length as make the field end where the message did, the leading ones perhaps for nothing.
  const room = to - from - 1;
  const digits = [1, 2, 3, 4].find((count) => room - count < 0x80 ** count) ?? 5;
  let length = room - digits;
  for (let digit = 0; digit < digits; digit += 1) {
    bytes[from + 1 + digit] = (length % 0x80) + (digit < digits - 1 ? 0x80 : 0);
    length = Math.floor(length / 0x80);
  }
}

/** Numbers stay as they are written: a double would lose what 64-bit integers say. */
interface RawJson {
  rawJSON(text: string): unknown;
}

function blankJson(body: Uint8Array, gone: ReadonlySet<string>): Uint8Array {
  const { rawJSON } = JSON as unknown as RawJson;
  const request: unknown = JSON.parse(
    new TextDecoder().decode(body),
    (_name, value: unknown, context?: { readonly source?: string }) =>
      typeof value === 'number' && context?.source !== undefined ? rawJSON(context.source) : value,
  );
  for (const resourceSpans of listIn(request, 'resourceSpans')) {
    let stays = false;
    for (const scopeSpans of listIn(resourceSpans, 'scopeSpans')) {
      const spans = listIn(scopeSpans, 'spans').map((span) => (isGone(span, gone) ? {} : span));
      const hasSpans = spans.some((span) => isObject(span) && Object.keys(span).length > 0);
      if (isObject(scopeSpans)) Object.assign(scopeSpans, { spans }, hasSpans ? {} : { scope: {} });
      stays ||= hasSpans;
    }
    if (!stays && isObject(resourceSpans)) Object.assign(resourceSpans, { resource: {} });
  }
  return new TextEncoder().encode(JSON.stringify(request));
}

const isGone = (span: unknown, gone: ReadonlySet<string>): boolean =>
  isObject(span) && gone.has(idOf(span['traceId'], 16, 'traceId'));

function listIn(value: unknown, name: keyof JsonObject): readonly unknown[] {
  const list = isObject(value) ? value[name] : undefined;
  return Array.isArray(list) ? list : [];
}
