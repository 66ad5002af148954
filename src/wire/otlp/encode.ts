import type { ExportedSpan } from '../../domain/traces/exported-span.ts';
import { type Attributes, type AttributeValue, SPAN_KINDS, SPAN_STATUSES } from '../../domain/traces/span.ts';
import type { OtlpBody } from './answer.ts';
import { ProtobufWriter } from './protobuf-writer.ts';

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

// Tags as in decode-protobuf.ts. The writer needs fields in reverse order.

function protobufOf(spans: readonly ExportedSpan[], { resource, scope }: Sender): Uint8Array {
  const writer = new ProtobufWriter();
  for (const span of spans.toReversed()) writeSpan(writer, span);
  const scopeMark = writer.mark;
  writer.text(0x12, scope.version);
  writer.text(0x0a, scope.name);
  writer.message(0x0a, scopeMark);
  // ScopeSpans, and later ResourceSpans: with mark 0, all that is written so far is the content of the message.
  writer.message(0x12, 0);
  const resourceMark = writer.mark;
  writeAttributes(writer, 0x0a, resource);
  writer.message(0x0a, resourceMark);
  writer.message(0x0a, 0);
  return writer.finish();
}

function writeSpan(writer: ProtobufWriter, span: ExportedSpan): void {
  const mark = writer.mark;
  if (span.status !== 'unset') writer.varint(0x18, SPAN_STATUSES.indexOf(span.status));
  if (span.statusMessage !== '') writer.text(0x12, span.statusMessage);
  writer.message(0x7a, mark);
  writeAttributes(writer, 0x4a, span.attributes);
  writer.fixed64(0x41, span.endNs);
  writer.fixed64(0x39, span.startNs);
  if (span.kind !== 'UNSPECIFIED') writer.varint(0x30, SPAN_KINDS.indexOf(span.kind));
  if (span.name !== '') writer.text(0x2a, span.name);
  if (span.parentSpanId !== null) writer.hex(0x22, span.parentSpanId);
  writer.hex(0x12, span.spanId);
  writer.hex(0x0a, span.traceId);
  writer.message(0x12, mark);
}

function writeAttributes(writer: ProtobufWriter, tag: number, attributes: Attributes): void {
  for (const [key, value] of Object.entries(attributes).toReversed()) {
    const mark = writer.mark;
    writeValue(writer, 0x12, value);
    if (key !== '') writer.text(0x0a, key);
    writer.message(tag, mark);
  }
}

function writeValue(writer: ProtobufWriter, tag: number, value: AttributeValue): void {
  const mark = writer.mark;
  if (typeof value === 'string') writer.text(0x0a, value);
  else if (typeof value === 'boolean') writer.varint(0x10, value ? 1 : 0);
  else if (typeof value === 'bigint') writer.int64(0x18, value);
  else if (typeof value === 'number') writeNumber(writer, value);
  else if (isList(value)) {
    for (const item of value.toReversed()) writeValue(writer, 0x0a, item);
    writer.message(0x2a, mark);
  } else if (value !== null && !(value instanceof Uint8Array)) {
    writeAttributes(writer, 0x0a, value);
    writer.message(0x32, mark);
  } else if (value !== null) {
    writer.hex(0x3a, value.toHex());
  }
  writer.message(tag, mark);
}

function writeNumber(writer: ProtobufWriter, value: number): void {
  if (Number.isSafeInteger(value)) writer.int64(0x18, BigInt(value));
  else writer.double(0x21, value);
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
