import { defineEntity, p } from '@mikro-orm/core';
import type { JobStatus } from '../../domain/jobs/job.ts';
import { UnixMsDoubleType } from '../column-types/unix-ms.ts';

/** A job changes over time: a managed entity. */
export const JobEntity = defineEntity({
  name: 'JobEntity',
  tableName: 'job',
  properties: {
    id: p.text().primary(),
    kind: p.text(),
    subject: p.text(),
    status: p.text().$type<JobStatus>(),
    createdAt: p.type(UnixMsDoubleType),
    dueAt: p.type(UnixMsDoubleType),
    attempts: p.integer(),
    mostAttempts: p.integer(),
    workerId: p.text().nullable(),
    finishedAt: p.type(UnixMsDoubleType).nullable(),
    error: p.text(),
  },
  indexes: [{ properties: ['kind', 'status', 'dueAt'] }, { properties: ['finishedAt'] }],
});
