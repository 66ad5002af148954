import { defineEntity, p } from '@mikro-orm/core';
import type { SpanKind, SpanStatus, SpanType } from '../../domain/traces/span.ts';

/**
 * The narrow half of a span: what lists and trees of spans need, kept apart from the payload so that reading
 * a trace never touches it. Rows only; see `trace-summary.ts` for the times.
 */
export const SpanSchema = defineEntity({
  name: 'SpanEntity',
  tableName: 'span',
  properties: {
    traceId: p.text().primary(),
    traceRef: p.text().primary(),
    spanId: p.text().primary(),
    parentSpanId: p.text().nullable(),
    name: p.text(),
    kind: p.text().$type<SpanKind>(),
    type: p.text().$type<SpanType>(),
    agent: p.text(),
    service: p.text(),
    startNs: p.text(),
    endNs: p.text(),
    status: p.text().$type<SpanStatus>(),
    error: p.text().nullable(),
    model: p.text().nullable(),
    inputTokens: p.bigint('number'),
    outputTokens: p.bigint('number'),
    inputPreview: p.text(),
    requestId: p.text().nullable(),
    /** Picodollars. */
    cost: p.bigint('string').nullable(),
  },
});

export class SpanEntity extends SpanSchema.class {}
SpanSchema.setClass(SpanEntity);
