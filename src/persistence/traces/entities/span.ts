import { defineEntity, p } from '@mikro-orm/core';
import type { SpanKind, SpanStatus, SpanType } from '../../../domain/traces/span.ts';

/**
 * The narrow half of a span: what lists and trees of spans need. Its payload is in the body of the export it came in,
 * or, where the platform made the span itself, in the last column. Rows only; see `trace-summary.ts` for the times.
 */
export const SpanSchema = defineEntity({
  name: 'SpanEntity',
  tableName: 'span',
  properties: {
    /** Number of the trace. Rows of one trace lie side by side, and new ones at the end. */
    traceNo: p.bigint('string').primary(),
    spanId: p.text().primary(),
    parentSpanId: p.text().nullable(),
    name: p.text(),
    kind: p.text().$type<SpanKind>(),
    type: p.text().$type<SpanType>(),
    agent: p.text(),
    service: p.text(),
    startNs: p.bigint('string'),
    endNs: p.bigint('string'),
    status: p.text().$type<SpanStatus>(),
    error: p.text().nullable(),
    model: p.text().nullable(),
    inputTokens: p.bigint('number'),
    outputTokens: p.bigint('number'),
    inputPreview: p.text(),
    requestId: p.text().nullable(),
    /** Picodollars. */
    cost: p.bigint('string').nullable(),
    /** Empty of what is not known, as in rows from before these were kept. */
    provider: p.text().nullable(),
    framework: p.text().nullable(),
    callId: p.text().nullable(),
    /** 1 for a span that the gateway made. */
    gateway: p.integer().nullable(),
    /** JSON; see `TraceSource`. */
    source: p.text().nullable(),
    /** Picodollars. */
    estimate: p.bigint('string').nullable(),
    /** The body of its export, and its place in it. */
    bodyNo: p.bigint('string').nullable(),
    bodyAt: p.integer().nullable(),
    /** JSON text. Last: what is long lies outside of the row, and readers of heads do not get that far. */
    payload: p.text().nullable(),
  },
});

export class SpanEntity extends SpanSchema.class {}
SpanSchema.setClass(SpanEntity);
