import { defineEntity, p } from '@mikro-orm/core';

/**
 * What is noted of the calls of a trace that came in pieces (ADR 0038), so that what comes later is counted without
 * reading what is there. Rows only, all of them key.
 */
export const CallNoteSchema = defineEntity({
  name: 'CallNoteEntity',
  tableName: 'call_note',
  properties: {
    traceNo: p.bigint('string').primary(),
    /** See `call-notes.ts` of the stores. */
    kind: p.integer().primary(),
    name: p.text().primary(),
    spanId: p.text().primary(),
  },
});

export class CallNoteEntity extends CallNoteSchema.class {}
CallNoteSchema.setClass(CallNoteEntity);
