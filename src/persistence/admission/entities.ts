import { defineEntity, p } from '@mikro-orm/core';

/**
 * A counter of a limit that several processes share. Functions of the PostgreSQL database use it. Not a managed entity.
 */
export const AdmissionCounterEntity = defineEntity({
  name: 'AdmissionCounterEntity',
  tableName: 'admission_counter',
  properties: {
    name: p.text().primary(),
    /** JSON: base `b`, version `v`, start of the window `w`, and for each process its share `t` and stored part `c`. */
    state: p.text(),
    /** Time of the most recent request, Unix ms. */
    usedMs: p.bigint('number'),
  },
});

/** A process that holds shares of limits. Not a managed entity. */
export const AdmissionProcessEntity = defineEntity({
  name: 'AdmissionProcessEntity',
  tableName: 'admission_process',
  properties: {
    name: p.text().primary(),
    /** End of its lease, Unix ms, by the clock of the database. */
    untilMs: p.bigint('number'),
  },
});
