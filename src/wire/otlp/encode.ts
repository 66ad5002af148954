import type { ExportedSpan } from '../../domain/traces/exported-span.ts';
import { type Attributes, type AttributeValue, SPAN_KINDS, SPAN_STATUSES } from '../../domain/traces/span.ts';
import type { OtlpBody } from './answer.ts';
import { ProtobufWriter } from './protobuf-writer.ts';
import {
  ARRAY_VALUE,
  ATTRIBUTE_KEY,
  ATTRIBUTE_VALUE,
  EXPORT_RESOURCE_SPANS,
  MAP_ENTRY,
  RESOURCE_ATTRIBUTE,
  RESOURCE_SPANS_RESOURCE,
  RESOURCE_SPANS_SCOPE_SPANS,
  SCOPE_NAME,
  SCOPE_SPANS_SCOPE,
  SCOPE_SPANS_SPAN,
  SCOPE_VERSION,
  SPAN_ATTRIBUTE,
  SPAN_END_TIME,
  SPAN_KIND,
  SPAN_NAME,
  SPAN_PARENT_SPAN_ID,
  SPAN_SPAN_ID,
  SPAN_START_TIME,
  SPAN_STATUS,
  SPAN_TRACE_ID,
  STATUS_CODE,
  STATUS_MESSAGE,
  VALUE_ARRAY,
  VALUE_BOOL,
  VALUE_BYTES,
  VALUE_DOUBLE,
  VALUE_INT,
  VALUE_MAP,
  VALUE_STRING,
} from './tags.ts';

/** Mark of a message that contains everything written before. */
const START_MARK = 0;

/** Resource attributes and instrumentation scope of all spans of an export. */
export interface Sender {
  readonly resource: Attributes;
  readonly scope: { readonly name: string; readonly version: string };
}

/** ExportTraceServiceRequest with these spans, and its media type. */
export function encodeExport(spans: readonly ExportedSpan[], sender: Sender, encoding: 'protobuf' | 'json'): OtlpBody {
  return encoding === 'json'
    ? { contentType: 'application/json', body: Buffer.from(JSON.stringify(jsonOf(spans, sender))) }
    : { contentType: 'application/x-protobuf', body: protobufOf(spans, sender) };
}

/** Writes fields in reverse order, as `ProtobufWriter` requires. */
function protobufOf(spans: readonly ExportedSpan[], { resource, scope }: Sender): Uint8Array {
  const writer = new ProtobufWriter();
  for (const span of spans.toReversed()) writeSpan(writer, span);
  const scopeMark = writer.mark;
  writer.text(SCOPE_VERSION, scope.version);
  writer.text(SCOPE_NAME, scope.name);
  writer.message(SCOPE_SPANS_SCOPE, scopeMark);
  writer.message(RESOURCE_SPANS_SCOPE_SPANS, START_MARK);
  const resourceMark = writer.mark;
  writeAttributes(writer, RESOURCE_ATTRIBUTE, resource);
  writer.message(RESOURCE_SPANS_RESOURCE, resourceMark);
  writer.message(EXPORT_RESOURCE_SPANS, START_MARK);
  return writer.finish();
}

function writeSpan(writer: ProtobufWriter, span: ExportedSpan): void {
  const mark = writer.mark;
  if (span.status !== 'unset') writer.varint(STATUS_CODE, SPAN_STATUSES.indexOf(span.status));
  if (span.statusMessage !== '') writer.text(STATUS_MESSAGE, span.statusMessage);
  writer.message(SPAN_STATUS, mark);
  writeAttributes(writer, SPAN_ATTRIBUTE, span.attributes);
  writer.fixed64(SPAN_END_TIME, span.endNs);
  writer.fixed64(SPAN_START_TIME, span.startNs);
  if (span.kind !== 'UNSPECIFIED') writer.varint(SPAN_KIND, SPAN_KINDS.indexOf(span.kind));
  if (span.name !== '') writer.text(SPAN_NAME, span.name);
  if (span.parentSpanId !== null) writer.hex(SPAN_PARENT_SPAN_ID, span.parentSpanId);
  writer.hex(SPAN_SPAN_ID, span.spanId);
  writer.hex(SPAN_TRACE_ID, span.traceId);
  writer.message(SCOPE_SPANS_SPAN, mark);
}

function writeAttributes(writer: ProtobufWriter, tag: number, attributes: Attributes): void {
  for (const [key, value] of Object.entries(attributes).toReversed()) {
    const mark = writer.mark;
    writeValue(writer, ATTRIBUTE_VALUE, value);
    if (key !== '') writer.text(ATTRIBUTE_KEY, key);
    writer.message(tag, mark);
  }
}

function writeValue(writer: ProtobufWriter, tag: number, value: AttributeValue): void {
  const mark = writer.mark;
  if (typeof value === 'string') writer.text(VALUE_STRING, value);
  else if (typeof value === 'boolean') writer.varint(VALUE_BOOL, value ? 1 : 0);
  else if (typeof value === 'bigint') writer.int64(VALUE_INT, value);
  else if (typeof value === 'number') writeNumber(writer, value);
  else if (isList(value)) {
    for (const item of value.toReversed()) writeValue(writer, ARRAY_VALUE, item);
    writer.message(VALUE_ARRAY, mark);
  } else if (value instanceof Uint8Array) writer.hex(VALUE_BYTES, value.toHex());
  else if (value !== null) {
    writeAttributes(writer, MAP_ENTRY, value);
    writer.message(VALUE_MAP, mark);
  }
  writer.message(tag, mark);
}

function writeNumber(writer: ProtobufWriter, value: number): void {
  if (Number.isSafeInteger(value)) writer.int64(VALUE_INT, BigInt(value));
  else writer.double(VALUE_DOUBLE, value);
}

const isList = (value: AttributeValue): value is readonly AttributeValue[] => Array.isArray(value);

function jsonOf(spans: readonly ExportedSpan[], { resource, scope }: Sender): unknown {
  const jsonSpans = spans.map((span) => ({
    traceId: span.traceId,
    spanId: span.spanId,
    ...(span.parentSpanId === null ? {} : { parentSpanId: span.parentSpanId }),
    name: span.name,
    kind: SPAN_KINDS.indexOf(span.kind),
    startTimeUnixNano: String(span.startNs),
    endTimeUnixNano: String(span.endNs),
    attributes: jsonAttributes(span.attributes),
    status: { code: SPAN_STATUSES.indexOf(span.status), message: span.statusMessage },
  }));
  return {
    resourceSpans: [{ resource: { attributes: jsonAttributes(resource) }, scopeSpans: [{ scope, spans: jsonSpans }] }],
  };
}

const jsonAttributes = (attributes: Attributes): readonly unknown[] =>
  Object.entries(attributes).map(([key, value]) => ({ key, value: jsonValue(value) }));

function jsonValue(value: AttributeValue): unknown {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'bigint') return { intValue: String(value) };
  if (typeof value === 'number' && Number.isSafeInteger(value)) return { intValue: String(value) };
  // JSON has no NaN and no infinity. The JSON mapping of protobuf writes them as text.
  if (typeof value === 'number') return { doubleValue: Number.isFinite(value) ? value : String(value) };
  if (isList(value)) return { arrayValue: { values: value.map(jsonValue) } };
  if (value instanceof Uint8Array) return { bytesValue: value.toBase64() };
  return value === null ? {} : { kvlistValue: { values: jsonAttributes(value) } };
}
