import { defineEntity, p } from '@mikro-orm/core';

/**
 * Notes on the calls of a trace that arrives in several pieces (`call-notes/README.md`). All columns are the primary
 * key. Not a managed entity.
 */
export const CallNoteEntity = defineEntity({
  name: 'CallNoteEntity',
  tableName: 'call_note',
  properties: {
    traceNo: p.bigint('string').primary(),
    /** A number of `KINDS` in `notes.ts`, or `TRACE_MARK` for the row that marks a trace with notes. */
    kind: p.integer().primary(),
    name: p.text().primary(),
    spanId: p.text().primary(),
  },
});
