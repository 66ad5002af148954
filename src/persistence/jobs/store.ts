import { type FilterQuery, type InferEntity, LockMode, raw } from '@mikro-orm/core';
import type { Job, JobClaim, JobStatus, JobStore, NewJob } from '../../domain/jobs/job.ts';
import { storable } from '../../domain/storable.ts';
import type { Database } from '../database/database.ts';
import { plainValues } from '../database/plain-values.ts';
import { JobEntity } from './entities.ts';

type JobWhere = FilterQuery<InferEntity<typeof JobEntity>>;
type Due = { readonly $gt: Date } | { readonly $lte: Date };
type JobValues = Partial<Omit<Job, 'id'>>;

const ACTIVE: readonly JobStatus[] = ['queued', 'running'];
const LOCKED = { lockMode: LockMode.PESSIMISTIC_WRITE } as const;
/** Skips rows that another process is claiming. */
const UNCLAIMED = { lockMode: LockMode.PESSIMISTIC_PARTIAL_WRITE } as const;

const claimable = (kind: string, now: Date): JobWhere => ({
  kind: storable(kind),
  status: { $in: ACTIVE },
  dueAt: { $lte: now },
  [raw('attempts < most_attempts')]: [],
});

/** A claim that holds, or one whose lease has ended. */
const claimed = ({ id, attempt }: JobClaim, dueAt: Due): JobWhere => {
  return { id: storable(id), status: 'running', attempts: attempt, dueAt };
};

const newRow = ({ id, kind, subject, dueAt, mostAttempts }: NewJob, now: Date) => ({
  id,
  kind: storable(kind),
  subject: storable(subject),
  status: 'queued' as const,
  createdAt: now,
  dueAt,
  attempts: 0,
  mostAttempts,
  workerId: null,
  finishedAt: null,
  error: '',
});

const later = (now: Date, ms: number): Date => new Date(now.getTime() + ms);

/** Jobs as managed entities. */
export function createJobStore({ orm, find, change, addIfNew }: Database): JobStore {
  const jobOf: (stored: InferEntity<typeof JobEntity>) => Job = plainValues(orm, JobEntity);

  /** Changes the first job that matches; null for none. */
  const changeFirst = (
    where: JobWhere,
    valuesOf: (job: Job) => JobValues,
    options: object = LOCKED,
  ): Promise<Job | null> =>
    change(async (em) => {
      const stored = await em.findOne(JobEntity, where, options);
      if (stored === null) return null;
      Object.assign(stored, valuesOf(jobOf(stored)));
      return jobOf(stored);
    });

  return {
    async add(job, now) {
      await addIfNew((em) => em.create(JobEntity, newRow(job, now)));
    },
    addIfIdle: async (job, now) => {
      const active = { kind: storable(job.kind), status: { $in: ACTIVE } };
      if ((await find((em) => em.count(JobEntity, active))) > 0) return false;
      return addIfNew((em) => em.create(JobEntity, newRow(job, now)));
    },
    hasDue: async (kind, now) =>
      (await find((em) => em.findOne(JobEntity, claimable(kind, now), { fields: ['id'] }))) !== null,
    claim: ({ kind, workerId, now, leaseMs }) =>
      changeFirst(
        claimable(kind, now),
        ({ attempts }) => ({ status: 'running', attempts: attempts + 1, workerId, dueAt: later(now, leaseMs) }),
        { ...UNCLAIMED, orderBy: { dueAt: 'asc', id: 'asc' } },
      ),
    extend: (claim, now, leaseMs) => changeFirst(claimed(claim, { $gt: now }), () => ({ dueAt: later(now, leaseMs) })),
    end: async (claim, { status, error }, now) => {
      const ending = { status, error: storable(error), finishedAt: now };
      return (await changeFirst(claimed(claim, { $gt: now }), () => ending)) !== null;
    },
    retry: (claim, { dueAt, error, counts }, now) =>
      changeFirst(claimed(claim, { $gt: now }), ({ attempts, mostAttempts }) => {
        const isSpent = counts && attempts >= mostAttempts;
        return {
          status: isSpent ? 'dead' : 'queued',
          dueAt,
          mostAttempts: mostAttempts + (counts ? 0 : 1),
          finishedAt: isSpent ? now : null,
          error: storable(error),
        };
      }),
    cancel: (id, now) =>
      changeFirst({ id: storable(id), status: { $in: ACTIVE } }, () => ({ status: 'cancelled', finishedAt: now })),
    exhausted: (kind, now, most) =>
      find(async (em) => {
        const withoutAttempts = { [raw('attempts >= most_attempts')]: [] };
        const where = { kind: storable(kind), status: 'running' as const, dueAt: { $lte: now }, ...withoutAttempts };
        return (await em.find(JobEntity, where, { orderBy: { dueAt: 'asc' }, limit: most })).map(jobOf);
      }),
    markDead: async (claim, error, now) => {
      const dead = { status: 'dead' as const, error: storable(error), finishedAt: now };
      return (await changeFirst(claimed(claim, { $lte: now }), () => dead)) !== null;
    },
    findMany: (ids) => find(async (em) => (await em.find(JobEntity, { id: { $in: ids.map(storable) } })).map(jobOf)),
    list: ({ kind, status }, most) =>
      find(async (em) => {
        const where = { ...(kind === null ? {} : { kind: storable(kind) }), ...(status === null ? {} : { status }) };
        const options = { orderBy: { createdAt: 'desc', id: 'desc' }, limit: most } as const;
        return (await em.find(JobEntity, where, options)).map(jobOf);
      }),
    removeEndedBefore: (before, most) =>
      change(async (em) => {
        const options = { orderBy: { finishedAt: 'asc' }, limit: most } as const;
        const ended = await em.find(JobEntity, { finishedAt: { $lt: before } }, options);
        for (const job of ended) em.remove(job);
        return ended.length;
      }),
    keepLatest: (kind, most) =>
      change(async (em) => {
        const ofKind = { kind: storable(kind), finishedAt: { $ne: null } };
        const options = { orderBy: { finishedAt: 'desc' }, limit: 1, offset: most - 1 } as const;
        const [last] = await em.find(JobEntity, ofKind, options);
        if (last?.finishedAt) await em.nativeDelete(JobEntity, { ...ofKind, finishedAt: { $lt: last.finishedAt } });
      }),
  };
}
