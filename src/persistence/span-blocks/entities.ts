import { defineEntity, p } from '@mikro-orm/core';

/** Where in the block of an export the first spans of a trace are. Later spans have rows. Rows only. */
export const BlockTraceEntity = defineEntity({
  name: 'BlockTraceEntity',
  tableName: 'sheet_trace',
  properties: {
    traceNo: p.bigint('string').primary().autoincrement(false),
    bodyNo: p.bigint('string'),
    /** Offset and length in bytes. */
    at: p.integer(),
    length: p.integer(),
    /** 0 once they have rows; the place is kept for removal. */
    spans: p.integer(),
  },
});
