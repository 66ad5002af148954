import { defineEntity, p } from '@mikro-orm/core';

/**
 * Calls of one commit that are not yet in the tables which are read: their rows as one text, written at once and taken
 * apart later (ADR 0035). Goes when it is. Rows only.
 */
export const CallSegmentSchema = defineEntity({
  name: 'CallSegmentEntity',
  tableName: 'call_segment',
  properties: {
    /** The body with the payloads of its spans. Segments are taken apart in this order. */
    bodyNo: p.bigint('string').primary().autoincrement(false),
    calls: p.integer(),
    /** 1 when it could not be taken apart, and is left for somebody to look at. */
    setAside: p.integer(),
    /** JSON list: what each key spent in it, in picodollars as text. */
    totals: p.text(),
    /** JSON text, see `call-rows.ts`. */
    rows: p.text(),
  },
});

export class CallSegmentEntity extends CallSegmentSchema.class {}
CallSegmentSchema.setClass(CallSegmentEntity);
