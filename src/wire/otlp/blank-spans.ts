import { isObject, type JsonObject } from './json-text.ts';
import { cursorOver, type ProtoCursor, readLength, readVarint, skipField } from './protobuf.ts';

/**
 * A body that was accepted before, with nothing left of the spans at these positions. The others keep their
 * positions: what is left of a span is stepped over, and may not be decoded.
 */
export function blankSpans(body: Uint8Array, format: 'protobuf' | 'json', positions: readonly number[]): Uint8Array {
  const gone = new Set(positions);
  return format === 'json' ? blankJson(body, gone) : blankProtobuf(body, gone);
}

function blankProtobuf(body: Uint8Array, gone: ReadonlySet<number>): Uint8Array {
  const blanked = new Uint8Array(body);
  const cursor = cursorOver(body);
  let passed = 0;
  // The spans of a scope (2) of a resource (2) of the export (1), by the numbers of their fields.
  eachMessage(cursor, body.length, 0x0a, (resourceEnd) =>
    eachMessage(cursor, resourceEnd, 0x12, (scopeEnd) =>
      eachMessage(cursor, scopeEnd, 0x12, (spanEnd) => {
        if (gone.has(passed++)) blanked.fill(0, cursor.at, spanEnd);
        cursor.at = spanEnd;
      }),
    ),
  );
  return blanked;
}

/** Visits the messages under one tag; `visit` steps to the end it is given. */
function eachMessage(cursor: ProtoCursor, end: number, wanted: number, visit: (end: number) => void): void {
  while (cursor.at < end) {
    const tag = readVarint(cursor, end);
    if (tag === wanted) visit(readLength(cursor, end));
    else skipField(cursor, tag, end);
  }
}

/** Numbers stay as they are written: a double would lose what 64-bit integers say. */
interface RawJson {
  rawJSON(text: string): unknown;
}

function blankJson(body: Uint8Array, gone: ReadonlySet<number>): Uint8Array {
  const { rawJSON } = JSON as unknown as RawJson;
  const request: unknown = JSON.parse(
    new TextDecoder().decode(body),
    (_name, value: unknown, context?: { readonly source?: string }) =>
      typeof value === 'number' && context?.source !== undefined ? rawJSON(context.source) : value,
  );
  let passed = 0;
  const blank = (span: unknown): unknown => (gone.has(passed++) ? {} : span);
  for (const resourceSpans of listIn(request, 'resourceSpans'))
    for (const scopeSpans of listIn(resourceSpans, 'scopeSpans')) {
      const spans = listIn(scopeSpans, 'spans').map(blank);
      if (isObject(scopeSpans)) Object.assign(scopeSpans, { spans });
    }
  return new TextEncoder().encode(JSON.stringify(request));
}

function listIn(value: unknown, name: keyof JsonObject): readonly unknown[] {
  const list = isObject(value) ? value[name] : undefined;
  return Array.isArray(list) ? list : [];
}
