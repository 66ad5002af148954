import { defineEntity, p } from '@mikro-orm/core';
import type { JobStatus } from '../../domain/jobs/job.ts';

/** A job. Times are Unix ms. Not a managed entity. */
export const JobEntity = defineEntity({
  name: 'JobEntity',
  tableName: 'job',
  properties: {
    id: p.text().primary(),
    kind: p.text(),
    subject: p.text(),
    status: p.text().$type<JobStatus>(),
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
