import { defineEntity, p } from '@mikro-orm/core';

/** A process that holds shares of limits, and the end of its lease. Rows only. */
export const AdmissionProcessEntity = defineEntity({
  name: 'AdmissionProcessEntity',
  tableName: 'admission_process',
  properties: {
    name: p.text().primary(),
    /** Unix ms, by the clock of the database. */
    untilMs: p.bigint('number'),
  },
});
