import { defineEntity, p } from '@mikro-orm/core';

/**
 * Place of the first spans of a trace in the block of their export. Later spans are rows of `span`. Not a managed
 * entity.
 */
export const BlockTraceEntity = defineEntity({
  name: 'BlockTraceEntity',
  tableName: 'sheet_trace',
  properties: {
    traceNo: p.bigint('string').primary().autoincrement(false),
    bodyNo: p.bigint('string'),
    /** Offset and length in bytes. */
    at: p.integer(),
    length: p.integer(),
    /** Number of spans; 0 after they were copied to rows. The place is then kept for a later removal. */
    spans: p.integer(),
  },
});
