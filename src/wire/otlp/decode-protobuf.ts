import type { OtlpLimits } from '../../domain/traces/otlp-limits.ts';
import type { Attributes, AttributeValue, RawSpan } from '../../domain/traces/span.ts';
import { setAttribute } from './attributes.ts';
import {
  type Allowance,
  allowanceOf,
  assertCount,
  assertDepth,
  grantNodesOfSpans,
  spendHolder,
  spendNode,
  spendSpan,
  spendValue,
} from './limits.ts';
import {
  cursorOver,
  type ProtoCursor,
  readDouble,
  readFixed64,
  readHex,
  readInt64,
  readLength,
  readVarint,
  skipField,
} from './protobuf.ts';
import { readShared } from './text-cache.ts';
import { assertLink, assertSpan, eventTime, spanKindOf, spanStatusOf } from './span-rules.ts';

/*
 * Tags are `field number << 3 | wire type`, from the published opentelemetry-proto files. A known field that
 * comes with another wire type is stepped over like an unknown one.
 */

type Writable<Value> = { -readonly [Key in keyof Value]: Value[Key] };
type Resource = Writable<RawSpan['resource']>;
type InstrumentationScope = Writable<RawSpan['instrumentationScope']>;
type Event = RawSpan['events'][number];
type Link = RawSpan['links'][number];

interface Reader extends ProtoCursor {
  readonly allowance: Allowance;
  readonly spans: RawSpan[];
  /** Position of the only span to be read; null for all. */
  readonly wanted: number | null;
  /** How many spans were passed so far. */
  passed: number;
}

const NO_ATTRIBUTES: Attributes = Object.freeze({});
const NO_EVENTS: readonly Event[] = Object.freeze([]);
const NO_LINKS: readonly Link[] = Object.freeze([]);

/**
 * Decodes an ExportTraceServiceRequest in its protobuf encoding, in the order of the spans in it. Throws
 * InvalidInput when it is not one or has an invalid span, TooLarge when it crosses a limit. `wanted` is the position
 * of the only span to be read, from 0; all others are stepped over.
 */
export function decodeProtobuf(body: Uint8Array, limits: OtlpLimits, wanted: number | null = null): readonly RawSpan[] {
  const reader: Reader = { ...cursorOver(body), allowance: allowanceOf(limits), spans: [], wanted, passed: 0 };
  const end = reader.bytes.length;
  while (reader.at < end) {
    const tag = nextTag(reader, end);
    if (tag === 0x0a) readResourceSpans(reader, readLength(reader, end));
    else skipField(reader, tag, end);
  }
  return reader.spans;
}

function nextTag(reader: Reader, end: number): number {
  spendNode(reader.allowance);
  return readVarint(reader, end);
}

function readResourceSpans(reader: Reader, end: number): void {
  spendHolder(reader.allowance);
  // Filled when it comes, which may be after the spans that share it.
  const resource: Resource = { attributes: NO_ATTRIBUTES };
  while (reader.at < end) {
    const tag = nextTag(reader, end);
    if (tag === 0x0a) resource.attributes = readAttributeHolder(reader, readLength(reader, end));
    else if (tag === 0x12) readScopeSpans(reader, readLength(reader, end), resource);
    else skipField(reader, tag, end);
  }
}

/** A message of which only the attributes in field 1 are read: a resource. */
function readAttributeHolder(reader: Reader, end: number): Attributes {
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
  spendHolder(reader.allowance);
  const scope: InstrumentationScope = { name: '', version: '', attributes: NO_ATTRIBUTES };
  while (reader.at < end) {
    const tag = nextTag(reader, end);
    if (tag === 0x0a) readInstrumentationScope(reader, readLength(reader, end), scope);
    else if (tag === 0x12) readWantedSpan(reader, readLength(reader, end), resource, scope);
    else skipField(reader, tag, end);
  }
}

function readWantedSpan(reader: Reader, end: number, resource: Resource, scope: InstrumentationScope): void {
  if (reader.wanted === null || reader.wanted === reader.passed)
    reader.spans.push(readSpan(reader, end, resource, scope));
  else reader.at = end;
  reader.passed++;
}

function readInstrumentationScope(reader: Reader, end: number, scope: InstrumentationScope): void {
  const attributes: Record<string, AttributeValue> = {};
  let count = 0;
  while (reader.at < end) {
    const tag = nextTag(reader, end);
    if (tag === 0x0a) scope.name = readString(reader, end);
    else if (tag === 0x12) scope.version = readString(reader, end);
    else if (tag === 0x1a) readAttribute(reader, readLength(reader, end), attributes, ++count, 5);
    else skipField(reader, tag, end);
  }
  scope.attributes = attributes;
}

function readSpan(reader: Reader, end: number, resource: Resource, scope: InstrumentationScope): RawSpan {
  const index = reader.passed;
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
    parentSpanId: parentSpanId === '' ? null : parentSpanId,
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
  spendHolder(reader.allowance);
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
  spendHolder(reader.allowance);
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

function readString(reader: Reader, end: number): string {
  const after = readLength(reader, end);
  spendValue(reader.allowance, after - reader.at);
  return readShared(reader, after);
}

/** One KeyValue of an attribute list; `count` is its place in it, from 1. */
function readAttribute(
  reader: Reader,
  end: number,
  into: Record<string, AttributeValue>,
  count: number,
  depth: number,
): void {
  assertCount(count, reader.allowance.limits.attributes, 'attributes');
  readKeyValue(reader, end, into, depth);
}

function readKeyValue(reader: Reader, end: number, into: Record<string, AttributeValue>, depth: number): void {
  assertDepth(reader.allowance, depth);
  let key = '';
  let value: AttributeValue = null;
  while (reader.at < end) {
    const tag = nextTag(reader, end);
    if (tag === 0x0a) {
      const after = readLength(reader, end);
      spendValue(reader.allowance, after - reader.at);
      key = readShared(reader, after);
    } else if (tag === 0x12) value = readAnyValue(reader, readLength(reader, end), depth + 1);
    else skipField(reader, tag, end);
  }
  setAttribute(into, key, value);
}

function readAnyValue(reader: Reader, end: number, depth: number): AttributeValue {
  const { allowance } = reader;
  assertDepth(allowance, depth);
  let value: AttributeValue = null;
  while (reader.at < end) {
    const tag = nextTag(reader, end);
    switch (tag) {
      case 0x0a:
        value = readString(reader, end);
        continue;
      case 0x10:
        value = readVarint(reader, end) !== 0;
        break;
      case 0x18:
        value = readInt64(reader, end);
        break;
      case 0x21:
        value = readDouble(reader, end);
        break;
      case 0x2a:
        value = readArray(reader, readLength(reader, end), depth + 1);
        break;
      case 0x32:
        value = readKeyValueList(reader, readLength(reader, end), depth + 1);
        break;
      case 0x3a: {
        const after = readLength(reader, end);
        spendValue(allowance, after - reader.at);
        // Copied, so that a small value does not keep the whole body alive.
        value = new Uint8Array(reader.bytes.subarray(reader.at, after));
        reader.at = after;
        continue;
      }
      default:
        skipField(reader, tag, end);
        continue;
    }
    spendValue(allowance, 0);
  }
  return value;
}

function readArray(reader: Reader, end: number, depth: number): readonly AttributeValue[] {
  assertDepth(reader.allowance, depth);
  const values: AttributeValue[] = [];
  while (reader.at < end) {
    const tag = nextTag(reader, end);
    if (tag === 0x0a) values.push(readAnyValue(reader, readLength(reader, end), depth + 1));
    else skipField(reader, tag, end);
  }
  return values;
}

function readKeyValueList(reader: Reader, end: number, depth: number): Attributes {
  assertDepth(reader.allowance, depth);
  const entries: Record<string, AttributeValue> = {};
  while (reader.at < end) {
    const tag = nextTag(reader, end);
    if (tag === 0x0a) readKeyValue(reader, readLength(reader, end), entries, depth + 1);
    else skipField(reader, tag, end);
  }
  return entries;
}
