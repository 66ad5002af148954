import { defineEntity, p } from '@mikro-orm/core';

/** The wide half of a span: read one at a time. Rows only; all but input and output are JSON text. */
export const SpanPayloadSchema = defineEntity({
  name: 'SpanPayloadEntity',
  tableName: 'span_payload',
  properties: {
    traceId: p.text().primary(),
    traceRef: p.text().primary(),
    spanId: p.text().primary(),
    input: p.text(),
    output: p.text(),
    attributes: p.text(),
    resourceAttributes: p.text(),
    events: p.text(),
    links: p.text(),
  },
});

export class SpanPayloadEntity extends SpanPayloadSchema.class {}
SpanPayloadSchema.setClass(SpanPayloadEntity);
