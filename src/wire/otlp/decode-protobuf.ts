import type { OtlpLimits } from '../../domain/traces/otlp-limits.ts';
import type { Attributes, AttributeValue, RawSpan } from '../../domain/traces/span.ts';
import {
  allowanceOf,
  assertCount,
  assertLink,
  assertSpan,
  eventTime,
  grantNodesOfSpans,
  spanKindOf,
  spanStatusOf,
  spendMessage,
  spendSpan,
} from './span-rules.ts';
import { cursorOver, readFixed64, readHex, readLength, readVarint, skipField } from './protobuf.ts';
import { nextTag, readAttribute, readString, type ValueReader } from './protobuf-values.ts';
import { nullIfEmpty } from '../../domain/optional-text.ts';

/*
 * Tags are `field number << 3 | wire type`, from the published opentelemetry-proto files. A known field with another
 * wire type is skipped like an unknown field. Attributes are at nesting level 4 in a resource, 5 in a scope or span,
 * and 6 in an event or link.
 */

type Resource = RawSpan['resource'];
type InstrumentationScope = RawSpan['instrumentationScope'];
type Event = RawSpan['events'][number];
type Link = RawSpan['links'][number];

interface Reader extends ValueReader {
  readonly visit: (span: RawSpan, position: number) => void;
  /** Positions of the spans to decode. Null decodes all. */
  readonly positions: ReadonlySet<number> | null;
  /** Position of the next span, from 0. */
  position: number;
}

const NO_ATTRIBUTES: Attributes = Object.freeze({});
const NO_SCOPE: InstrumentationScope = Object.freeze({ name: '', version: '', attributes: NO_ATTRIBUTES });
const NO_EVENTS: readonly Event[] = Object.freeze([]);
const NO_LINKS: readonly Link[] = Object.freeze([]);

/**
 * Decodes an ExportTraceServiceRequest in protobuf. Passes each span to `visit` as soon as it is decoded, in order, so
 * that its values can be freed early. With `positions`, decodes only the spans at these positions, from 0. Throws
 * InvalidInput for an invalid request or span, and TooLarge above a limit, possibly after some spans.
 */
export function visitProtobuf(
  body: Uint8Array,
  limits: OtlpLimits,
  visit: (span: RawSpan, position: number) => void,
  positions: ReadonlySet<number> | null = null,
): void {
  const reader: Reader = { ...cursorOver(body), allowance: allowanceOf(limits), visit, positions, position: 0 };
  const end = reader.bytes.length;
  while (reader.at < end) {
    const tag = nextTag(reader, end);
    if (tag === 0x0a) readResourceSpans(reader, readLength(reader, end));
    else skipField(reader, tag, end);
  }
}

function readResourceSpans(reader: Reader, end: number): void {
  spendMessage(reader.allowance);
  const resource: Resource = { attributes: readAhead(reader, end, readResourceAttributes) ?? NO_ATTRIBUTES };
  while (reader.at < end) {
    const tag = nextTag(reader, end);
    if (tag === 0x12) readScopeSpans(reader, readLength(reader, end), resource);
    else skipField(reader, tag, end);
  }
}

/**
 * Reads field 1 of a message and then resets the cursor. Field 1 applies to the whole message, but may follow the other
 * fields. If it is repeated, the last one counts. Undefined when it is missing.
 */
function readAhead<Value>(
  reader: Reader,
  end: number,
  read: (reader: Reader, end: number) => Value,
): Value | undefined {
  const start = reader.at;
  let value: Value | undefined;
  while (reader.at < end) {
    // Fields are charged in the second pass, where each span raises the limit.
    const tag = readVarint(reader, end);
    if (tag === 0x0a) value = read(reader, readLength(reader, end));
    else skipField(reader, tag, end);
  }
  reader.at = start;
  return value;
}

/** Attributes of a resource: field 1 of its message. */
function readResourceAttributes(reader: Reader, end: number): Attributes {
  const attributes: Record<string, AttributeValue> = {};
  let count = 0;
  while (reader.at < end) {
    const tag = nextTag(reader, end);
    if (tag === 0x0a) readAttribute(reader, readLength(reader, end), attributes, ++count, 4);
    else skipField(reader, tag, end);
  }
  return attributes;
}

function readScopeSpans(reader: Reader, end: number, resource: Resource): void {
  spendMessage(reader.allowance);
  const scope = readAhead(reader, end, readInstrumentationScope) ?? NO_SCOPE;
  while (reader.at < end) {
    const tag = nextTag(reader, end);
    if (tag === 0x12) visitSpan(reader, readLength(reader, end), resource, scope);
    else skipField(reader, tag, end);
  }
}

function visitSpan(reader: Reader, end: number, resource: Resource, scope: InstrumentationScope): void {
  if (reader.positions === null || reader.positions.has(reader.position))
    reader.visit(readSpan(reader, end, resource, scope), reader.position);
  else reader.at = end;
  reader.position++;
}

function readInstrumentationScope(reader: Reader, end: number): InstrumentationScope {
  const attributes: Record<string, AttributeValue> = {};
  let count = 0;
  let name = '';
  let version = '';
  while (reader.at < end) {
    const tag = nextTag(reader, end);
    if (tag === 0x0a) name = readString(reader, end);
    else if (tag === 0x12) version = readString(reader, end);
    else if (tag === 0x1a) readAttribute(reader, readLength(reader, end), attributes, ++count, 5);
    else skipField(reader, tag, end);
  }
  return { name, version, attributes };
}

function readSpan(reader: Reader, end: number, resource: Resource, scope: InstrumentationScope): RawSpan {
  const index = reader.position;
  spendSpan(reader.allowance);
  grantNodesOfSpans(reader.allowance);
  let traceId = '';
  let spanId = '';
  let parentSpanId = '';
  let name = '';
  let kind = 0;
  let startNs = 0n;
  let endNs = 0n;
  let statusCode = 0;
  let statusMessage = '';
  const attributes: Record<string, AttributeValue> = {};
  let attributeCount = 0;
  let events: Event[] | null = null;
  let links: Link[] | null = null;
  while (reader.at < end) {
    const tag = nextTag(reader, end);
    switch (tag) {
      case 0x0a:
        traceId = readHex(reader, readLength(reader, end));
        break;
      case 0x12:
        spanId = readHex(reader, readLength(reader, end));
        break;
      case 0x22:
        parentSpanId = readHex(reader, readLength(reader, end));
        break;
      case 0x2a:
        name = readString(reader, end);
        break;
      case 0x30:
        kind = readVarint(reader, end);
        break;
      case 0x39:
        startNs = readFixed64(reader, end);
        break;
      case 0x41:
        endNs = readFixed64(reader, end);
        break;
      case 0x4a:
        readAttribute(reader, readLength(reader, end), attributes, ++attributeCount, 5);
        break;
      case 0x5a:
        events ??= [];
        assertCount(events.length + 1, reader.allowance.limits.events, 'events');
        events.push(readEvent(reader, readLength(reader, end)));
        break;
      case 0x6a:
        links ??= [];
        assertCount(links.length + 1, reader.allowance.limits.links, 'links');
        links.push(readLink(reader, readLength(reader, end), index));
        break;
      case 0x7a: {
        const statusEnd = readLength(reader, end);
        while (reader.at < statusEnd) {
          const field = nextTag(reader, statusEnd);
          if (field === 0x12) statusMessage = readString(reader, statusEnd);
          else if (field === 0x18) statusCode = readVarint(reader, statusEnd);
          else skipField(reader, field, statusEnd);
        }
        break;
      }
      default:
        skipField(reader, tag, end);
    }
  }
  assertSpan({ traceId, spanId, parentSpanId, startNs, endNs }, index);
  return {
    traceId,
    spanId,
    parentSpanId: nullIfEmpty(parentSpanId),
    name,
    kind: spanKindOf(kind),
    startNs,
    endNs,
    status: spanStatusOf(statusCode),
    statusMessage,
    attributes,
    events: events ?? NO_EVENTS,
    links: links ?? NO_LINKS,
    resource,
    instrumentationScope: scope,
  };
}

function readEvent(reader: Reader, end: number): Event {
  spendMessage(reader.allowance);
  let name = '';
  let timeNs = 0n;
  let count = 0;
  const attributes: Record<string, AttributeValue> = {};
  while (reader.at < end) {
    const tag = nextTag(reader, end);
    if (tag === 0x09) timeNs = readFixed64(reader, end);
    else if (tag === 0x12) name = readString(reader, end);
    else if (tag === 0x1a) readAttribute(reader, readLength(reader, end), attributes, ++count, 6);
    else skipField(reader, tag, end);
  }
  return { name, timeNs: eventTime(timeNs), attributes };
}

function readLink(reader: Reader, end: number, spanIndex: number): Link {
  spendMessage(reader.allowance);
  let traceId = '';
  let spanId = '';
  let count = 0;
  const attributes: Record<string, AttributeValue> = {};
  while (reader.at < end) {
    const tag = nextTag(reader, end);
    if (tag === 0x0a) traceId = readHex(reader, readLength(reader, end));
    else if (tag === 0x12) spanId = readHex(reader, readLength(reader, end));
    else if (tag === 0x22) readAttribute(reader, readLength(reader, end), attributes, ++count, 6);
    else skipField(reader, tag, end);
  }
  assertLink(traceId, spanId, spanIndex);
  return { traceId, spanId, attributes };
}
