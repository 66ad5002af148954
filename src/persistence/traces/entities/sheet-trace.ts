import { defineEntity, p } from '@mikro-orm/core';

/** Where in the sheet of a body a trace has its spans: those it began with. What comes later has rows of its own. Rows only. */
export const SheetTraceSchema = defineEntity({
  name: 'SheetTraceEntity',
  tableName: 'sheet_trace',
  properties: {
    traceNo: p.bigint('string').primary().autoincrement(false),
    bodyNo: p.bigint('string'),
    /** Bytes of the sheet in front of its text, and of that. */
    at: p.integer(),
    length: p.integer(),
    /** How many spans are there; none once they have rows, and the place is only to be wiped one day. */
    spans: p.integer(),
  },
});

export class SheetTraceEntity extends SheetTraceSchema.class {}
SheetTraceSchema.setClass(SheetTraceEntity);
