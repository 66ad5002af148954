import { defineEntity, p } from '@mikro-orm/core';

/**
 * A counter of a limit that several processes share. Functions of the PostgreSQL database use it. Not a managed entity.
 */
export const AdmissionCounterEntity = defineEntity({
  name: 'AdmissionCounterEntity',
  tableName: 'admission_counter',
  properties: {
    name: p.text().primary(),
    /** Base, version, window, and the share of each process, as JSON. */
    state: p.text(),
    /** Time of the last request, Unix ms. */
    usedMs: p.bigint('number'),
  },
});

/** A process that holds shares of limits, and the end of its lease. Not a managed entity. */
export const AdmissionProcessEntity = defineEntity({
  name: 'AdmissionProcessEntity',
  tableName: 'admission_process',
  properties: {
    name: p.text().primary(),
    /** Unix ms, by the clock of the database. */
    untilMs: p.bigint('number'),
  },
});
