import { defineEntity, p } from '@mikro-orm/core';
import type { SpanKind, SpanStatus, SpanType } from '../../../domain/traces/span.ts';

/**
 * Head of a span, for lists and trees. The payload is in the body of its export, or in the last column for spans of our
 * own. Many spans are in blocks instead (`span-blocks/README.md`). Rows only.
 */
export const SpanEntity = defineEntity({
  name: 'SpanEntity',
  tableName: 'span',
  properties: {
    /** Number of the trace. Rows of one trace are adjacent; new ones are appended. */
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
    /** Null when unknown, and in rows of earlier versions. */
    provider: p.text().nullable(),
    framework: p.text().nullable(),
    callId: p.text().nullable(),
    /** 1 for a span that the gateway made, 0 for a client's call with unknown cached tokens. */
    gateway: p.integer().nullable(),
    /** JSON; see `TraceSource`. */
    source: p.text().nullable(),
    /** Picodollars. */
    estimate: p.bigint('string').nullable(),
    /** Body of its export, and the place of the span in it. */
    bodyNo: p.bigint('string').nullable(),
    bodyAt: p.integer().nullable(),
    /** JSON text. Last column, so that reads of heads do not reach overflow pages. */
    payload: p.text().nullable(),
  },
});
