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
import {
  EVENT_ATTRIBUTE,
  EVENT_NAME,
  EVENT_TIME,
  EXPORT_RESOURCE_SPANS,
  LINK_ATTRIBUTE,
  LINK_SPAN_ID,
  LINK_TRACE_ID,
  RESOURCE_ATTRIBUTE,
  RESOURCE_SPANS_RESOURCE,
  RESOURCE_SPANS_SCOPE_SPANS,
  SCOPE_ATTRIBUTE,
  SCOPE_NAME,
  SCOPE_SPANS_SCOPE,
  SCOPE_SPANS_SPAN,
  SCOPE_VERSION,
  SPAN_ATTRIBUTE,
  SPAN_END_TIME,
  SPAN_EVENT,
  SPAN_KIND,
  SPAN_LINK,
  SPAN_NAME,
  SPAN_PARENT_SPAN_ID,
  SPAN_SPAN_ID,
  SPAN_START_TIME,
  SPAN_STATUS,
  SPAN_TRACE_ID,
  STATUS_CODE,
  STATUS_MESSAGE,
} from './tags.ts';
import { nullIfEmpty } from '../../domain/optional-text.ts';

/** Nesting levels of attributes in an export. */
const RESOURCE_ATTRIBUTE_DEPTH = 4;
const SCOPE_ATTRIBUTE_DEPTH = 5;
const SPAN_ATTRIBUTE_DEPTH = 5;
const EVENT_ATTRIBUTE_DEPTH = 6;
const LINK_ATTRIBUTE_DEPTH = 6;

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
 * that its values can be freed early. With `positions`, decodes only the spans at these positions, from 0. A field with
 * an unknown number or an unexpected wire type is skipped. Throws InvalidInput for an invalid request or span, and
 * TooLarge above a limit, possibly after some spans.
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
    if (tag === EXPORT_RESOURCE_SPANS) readResourceSpans(reader, readLength(reader, end));
    else skipField(reader, tag, end);
  }
}

function readResourceSpans(reader: Reader, end: number): void {
  spendMessage(reader.allowance);
  const attributes = readAhead(reader, end, RESOURCE_SPANS_RESOURCE, readResourceAttributes);
  const resource: Resource = { attributes: attributes ?? NO_ATTRIBUTES };
  while (reader.at < end) {
    const tag = nextTag(reader, end);
    if (tag === RESOURCE_SPANS_SCOPE_SPANS) readScopeSpans(reader, readLength(reader, end), resource);
    else skipField(reader, tag, end);
  }
}

/**
 * Reads one field of a message and then resets the cursor. The field applies to the whole message, but may follow the
 * other fields. When the field is repeated, the last one counts. Undefined when the field is missing.
 */
function readAhead<Value>(
  reader: Reader,
  end: number,
  fieldTag: number,
  read: (reader: Reader, end: number) => Value,
): Value | undefined {
  const start = reader.at;
  let value: Value | undefined;
  while (reader.at < end) {
    // Fields are charged in the second pass, where each span raises the limit.
    const tag = readVarint(reader, end);
    if (tag === fieldTag) value = read(reader, readLength(reader, end));
    else skipField(reader, tag, end);
  }
  reader.at = start;
  return value;
}

function readResourceAttributes(reader: Reader, end: number): Attributes {
  const attributes: Record<string, AttributeValue> = {};
  let count = 0;
  while (reader.at < end) {
    const tag = nextTag(reader, end);
    if (tag === RESOURCE_ATTRIBUTE) {
      count += 1;
      readAttribute(reader, readLength(reader, end), attributes, count, RESOURCE_ATTRIBUTE_DEPTH);
    } else skipField(reader, tag, end);
  }
  return attributes;
}

function readScopeSpans(reader: Reader, end: number, resource: Resource): void {
  spendMessage(reader.allowance);
  const scope = readAhead(reader, end, SCOPE_SPANS_SCOPE, readInstrumentationScope) ?? NO_SCOPE;
  while (reader.at < end) {
    const tag = nextTag(reader, end);
    if (tag === SCOPE_SPANS_SPAN) visitSpan(reader, readLength(reader, end), resource, scope);
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
    if (tag === SCOPE_NAME) name = readString(reader, end);
    else if (tag === SCOPE_VERSION) version = readString(reader, end);
    else if (tag === SCOPE_ATTRIBUTE) {
      count += 1;
      readAttribute(reader, readLength(reader, end), attributes, count, SCOPE_ATTRIBUTE_DEPTH);
    } else skipField(reader, tag, end);
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
      case SPAN_TRACE_ID:
        traceId = readHex(reader, readLength(reader, end));
        break;
      case SPAN_SPAN_ID:
        spanId = readHex(reader, readLength(reader, end));
        break;
      case SPAN_PARENT_SPAN_ID:
        parentSpanId = readHex(reader, readLength(reader, end));
        break;
      case SPAN_NAME:
        name = readString(reader, end);
        break;
      case SPAN_KIND:
        kind = readVarint(reader, end);
        break;
      case SPAN_START_TIME:
        startNs = readFixed64(reader, end);
        break;
      case SPAN_END_TIME:
        endNs = readFixed64(reader, end);
        break;
      case SPAN_ATTRIBUTE:
        attributeCount += 1;
        readAttribute(reader, readLength(reader, end), attributes, attributeCount, SPAN_ATTRIBUTE_DEPTH);
        break;
      case SPAN_EVENT:
        events ??= [];
        assertCount(events.length + 1, reader.allowance.limits.events, 'events');
        events.push(readEvent(reader, readLength(reader, end)));
        break;
      case SPAN_LINK:
        links ??= [];
        assertCount(links.length + 1, reader.allowance.limits.links, 'links');
        links.push(readLink(reader, readLength(reader, end), index));
        break;
      case SPAN_STATUS: {
        const statusEnd = readLength(reader, end);
        while (reader.at < statusEnd) {
          const statusTag = nextTag(reader, statusEnd);
          if (statusTag === STATUS_MESSAGE) statusMessage = readString(reader, statusEnd);
          else if (statusTag === STATUS_CODE) statusCode = readVarint(reader, statusEnd);
          else skipField(reader, statusTag, statusEnd);
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
    if (tag === EVENT_TIME) timeNs = readFixed64(reader, end);
    else if (tag === EVENT_NAME) name = readString(reader, end);
    else if (tag === EVENT_ATTRIBUTE) {
      count += 1;
      readAttribute(reader, readLength(reader, end), attributes, count, EVENT_ATTRIBUTE_DEPTH);
    } else skipField(reader, tag, end);
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
    if (tag === LINK_TRACE_ID) traceId = readHex(reader, readLength(reader, end));
    else if (tag === LINK_SPAN_ID) spanId = readHex(reader, readLength(reader, end));
    else if (tag === LINK_ATTRIBUTE) {
      count += 1;
      readAttribute(reader, readLength(reader, end), attributes, count, LINK_ATTRIBUTE_DEPTH);
    } else skipField(reader, tag, end);
  }
  assertLink(traceId, spanId, spanIndex);
  return { traceId, spanId, attributes };
}
