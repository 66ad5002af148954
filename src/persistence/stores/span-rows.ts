import type { Selectable } from 'kysely';
import type { Usd } from '../../domain/money.ts';
import type { Span, SpanHead, SpanPayload } from '../../domain/traces/span.ts';
import type { Tables } from '../tables.ts';
import { amountText, nsText, storable, storableOrNull } from './encoding.ts';

type SpanRow = Selectable<Tables['span']>;
type PayloadRow = Selectable<Tables['span_payload']>;
type SpanEvent = SpanPayload['events'][number];
/** JSON has no bigint, and a double would lose the nanoseconds. */
type StoredEvent = Omit<SpanEvent, 'timeNs'> & { readonly timeNs: string };

const storedEventOf = ({ name, timeNs, attributes }: SpanEvent): StoredEvent => ({
  name,
  timeNs: timeNs.toString(),
  attributes,
});
const eventOf = ({ name, timeNs, attributes }: StoredEvent): SpanEvent => ({
  name,
  timeNs: BigInt(timeNs),
  attributes,
});

export function spanRowOf(traceRef: string, span: SpanHead): SpanRow {
  return {
    trace_id: storable(span.traceId),
    trace_ref: traceRef,
    span_id: storable(span.spanId),
    parent_span_id: storableOrNull(span.parentSpanId),
    name: storable(span.name),
    kind: span.kind,
    type: span.type,
    agent: storable(span.agent),
    service: storable(span.service),
    start_ns: nsText(span.startNs),
    end_ns: nsText(span.endNs),
    status: span.status,
    error: storableOrNull(span.error),
    model: storableOrNull(span.model),
    input_tokens: span.inputTokens,
    output_tokens: span.outputTokens,
    input_preview: storable(span.inputPreview),
    request_id: storableOrNull(span.requestId),
    cost: span.cost === null ? null : amountText(span.cost),
  };
}

export function spanHeadOf(row: SpanRow): SpanHead {
  return {
    traceId: row.trace_id,
    spanId: row.span_id,
    parentSpanId: row.parent_span_id,
    name: row.name,
    kind: row.kind,
    type: row.type,
    agent: row.agent,
    service: row.service,
    startNs: BigInt(row.start_ns),
    endNs: BigInt(row.end_ns),
    status: row.status,
    error: row.error,
    model: row.model,
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
    inputPreview: row.input_preview,
    requestId: row.request_id,
    cost: row.cost === null ? null : (BigInt(row.cost) as Usd),
  };
}

export function payloadRowOf(traceRef: string, span: Span): PayloadRow {
  return {
    trace_id: storable(span.traceId),
    trace_ref: traceRef,
    span_id: storable(span.spanId),
    input: storable(span.input),
    output: storable(span.output),
    attributes: JSON.stringify(span.attributes),
    resource_attributes: JSON.stringify(span.resourceAttributes),
    events: JSON.stringify(span.events.map(storedEventOf)),
    links: JSON.stringify(span.links),
  };
}

export function payloadOf(row: PayloadRow): SpanPayload {
  return {
    input: row.input,
    output: row.output,
    attributes: JSON.parse(row.attributes) as SpanPayload['attributes'],
    resourceAttributes: JSON.parse(row.resource_attributes) as SpanPayload['resourceAttributes'],
    events: (JSON.parse(row.events) as readonly StoredEvent[]).map(eventOf),
    links: JSON.parse(row.links) as SpanPayload['links'],
  };
}
