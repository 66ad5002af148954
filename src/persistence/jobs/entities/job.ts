import { defineEntity, p } from '@mikro-orm/core';

/** A job as a row that single statements change. Times are Unix milliseconds. */
export const JobSchema = defineEntity({
  name: 'JobEntity',
  tableName: 'job',
  properties: {
    id: p.text().primary(),
    kind: p.text(),
    subject: p.text(),
    status: p.text(),
    createdAt: p.double(),
    dueAt: p.double(),
    attempts: p.integer(),
    mostAttempts: p.integer(),
    workerId: p.text().nullable(),
    finishedAt: p.double().nullable(),
    error: p.text(),
  },
  indexes: [{ properties: ['kind', 'status', 'dueAt'] }, { properties: ['finishedAt'] }],
});

export class JobEntity extends JobSchema.class {}
JobSchema.setClass(JobEntity);
