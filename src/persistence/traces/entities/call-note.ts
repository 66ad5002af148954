import { defineEntity, p } from '@mikro-orm/core';

/** Notes on the calls of a pieced trace (ADR 0038): later spans are counted without reading earlier ones. Rows only, all key. */
export const CallNoteEntity = defineEntity({
  name: 'CallNoteEntity',
  tableName: 'call_note',
  properties: {
    traceNo: p.bigint('string').primary(),
    /** See `traces/call-notes.ts`. */
    kind: p.integer().primary(),
    name: p.text().primary(),
    spanId: p.text().primary(),
  },
});
