import { type Kysely, type Selectable, sql } from 'kysely';
import { type Job, type JobClaim, type JobStatus, type JobStore, JOB_STATUSES } from '../../domain/jobs/job.ts';
import { storable } from '../../domain/storable.ts';
import type { Database } from '../database/database.ts';
import { textsIn } from '../database/rows.ts';
import type { Tables } from '../database/tables.ts';
import { transaction } from '../database/transaction.ts';

type JobRow = Selectable<Tables['job']>;

function statusOf(text: string): JobStatus {
  const status = JOB_STATUSES.find((one) => one === text);
  if (status === undefined) throw new TypeError(`A job has the unknown status ${text}.`);
  return status;
}

const jobOf = (row: JobRow): Job => ({
  id: row.id,
  kind: row.kind,
  subject: row.subject,
  status: statusOf(row.status),
  createdAt: new Date(row.created_at),
  dueAt: new Date(row.due_at),
  attempts: row.attempts,
  mostAttempts: row.most_attempts,
  workerId: row.worker_id,
  finishedAt: row.finished_at === null ? null : new Date(row.finished_at),
  error: row.error,
});

const ACTIVE = ['queued', 'running'];

/** Jobs as rows that single statements change. A claim skips rows that another process is claiming. */
export function createJobStore({ orm, flavour, inFlight }: Database): JobStore {
  const writing = (): Kysely<Tables> => orm.em.fork().getKysely<Tables>();
  const reading = (): Kysely<Tables> => orm.em.fork().getKysely<Tables>({ type: 'read' });

  const claimable = (db: Kysely<Tables>, kind: string, now: Date) =>
    db
      .selectFrom('job')
      .where('kind', '=', storable(kind))
      .where('status', 'in', ACTIVE)
      .where('due_at', '<=', now.getTime())
      .whereRef('attempts', '<', 'most_attempts');

  /** Changes a job while its claim holds. */
  async function changeClaimed({ id, attempt }: JobClaim, now: Date, values: Partial<JobRow>): Promise<Job | null> {
    const row = await writing()
      .updateTable('job')
      .set(values)
      .where('id', '=', storable(id))
      .where('status', '=', 'running')
      .where('attempts', '=', attempt)
      .where('due_at', '>', now.getTime())
      .returningAll()
      .executeTakeFirst();
    return row === undefined ? null : jobOf(row);
  }

  return {
    add: (job, now) =>
      inFlight.write(async () => {
        const times = { created_at: now.getTime(), due_at: job.dueAt.getTime(), finished_at: null };
        const named = { id: job.id, kind: storable(job.kind), subject: storable(job.subject) };
        const state = { status: 'queued', attempts: 0, worker_id: null, error: '' };
        await writing()
          .insertInto('job')
          .values({ ...named, ...times, ...state, most_attempts: job.mostAttempts })
          .onConflict((conflict) => conflict.column('id').doNothing())
          .execute();
      }),
    offer: (job, now) =>
      inFlight.write(async () => {
        const db = writing();
        const isActive = db
          .selectFrom('job as other')
          .select('other.id')
          .where('other.kind', '=', storable(job.kind))
          .where('other.status', 'in', ACTIVE);
        const text = (value: string) => sql<string>`cast(${value} as text)`;
        const time = (value: Date) => sql<number>`cast(${value.getTime()} as double precision)`;
        const count = (value: number) => sql<number>`cast(${value} as integer)`;
        const added = await db
          .insertInto('job')
          .columns([
            ...(['id', 'kind', 'subject', 'status', 'error'] as const),
            ...(['created_at', 'due_at', 'attempts', 'most_attempts'] as const),
          ])
          .expression(
            db
              .selectNoFrom([
                text(job.id).as('id'),
                text(storable(job.kind)).as('kind'),
                text(storable(job.subject)).as('subject'),
                text('queued').as('status'),
                text('').as('error'),
                time(now).as('created_at'),
                time(job.dueAt).as('due_at'),
                count(0).as('attempts'),
                count(job.mostAttempts).as('most_attempts'),
              ])
              .where(({ not, exists }) => not(exists(isActive))),
          )
          .onConflict((conflict) => conflict.column('id').doNothing())
          .returning('id')
          .executeTakeFirst();
        return added !== undefined;
      }),
    hasDue: (kind, now) =>
      inFlight.run(async () => {
        const found = await claimable(reading(), kind, now).select('id').limit(1).executeTakeFirst();
        return found !== undefined;
      }),
    claim: ({ kind, workerId, now, leaseMs }) =>
      inFlight.write(() =>
        transaction(orm, async (db) => {
          const due = claimable(db, kind, now).select('id').orderBy('due_at').orderBy('id').limit(1);
          const first = await (flavour === 'postgresql' ? due.forUpdate().skipLocked() : due).executeTakeFirst();
          if (first === undefined) return null;
          const row = await db
            .updateTable('job')
            .set({
              status: 'running',
              attempts: sql<number>`attempts + 1`,
              worker_id: workerId,
              due_at: now.getTime() + leaseMs,
            })
            .where('id', '=', first.id)
            .returningAll()
            .executeTakeFirstOrThrow();
          return jobOf(row);
        }),
      ),
    extend: (claim, now, leaseMs) =>
      inFlight.write(() => changeClaimed(claim, now, { due_at: now.getTime() + leaseMs })),
    end: (claim, { status, error }, now) =>
      inFlight.write(
        async () =>
          (await changeClaimed(claim, now, { status, error: storable(error), finished_at: now.getTime() })) !== null,
      ),
    retry: (claim, { dueAt, error, counts }, now) =>
      inFlight.write(() => {
        const isSpent = counts ? sql`attempts >= most_attempts` : sql`false`;
        return writing()
          .updateTable('job')
          .set({
            status: sql<string>`case when ${isSpent} then 'dead' else 'queued' end`,
            finished_at: sql<number | null>`case when ${isSpent} then cast(${now.getTime()} as double precision) end`,
            most_attempts: sql<number>`most_attempts + ${sql.lit(counts ? 0 : 1)}`,
            due_at: dueAt.getTime(),
            error: storable(error),
          })
          .where('id', '=', storable(claim.id))
          .where('status', '=', 'running')
          .where('attempts', '=', claim.attempt)
          .where('due_at', '>', now.getTime())
          .returningAll()
          .executeTakeFirst()
          .then((row) => (row === undefined ? null : jobOf(row)));
      }),
    cancel: (id, now) =>
      inFlight.write(async () => {
        const row = await writing()
          .updateTable('job')
          .set({ status: 'cancelled', finished_at: now.getTime() })
          .where('id', '=', storable(id))
          .where('status', 'in', ACTIVE)
          .returningAll()
          .executeTakeFirst();
        return row === undefined ? null : jobOf(row);
      }),
    exhausted: (kind, now, most) =>
      inFlight.run(async () => {
        const rows = await reading()
          .selectFrom('job')
          .selectAll()
          .where('kind', '=', storable(kind))
          .where('status', '=', 'running')
          .where('due_at', '<=', now.getTime())
          .whereRef('attempts', '>=', 'most_attempts')
          .orderBy('due_at')
          .limit(most)
          .execute();
        return rows.map(jobOf);
      }),
    markDead: ({ id, attempt }, error, now) =>
      inFlight.write(async () => {
        const row = await writing()
          .updateTable('job')
          .set({ status: 'dead', error: storable(error), finished_at: now.getTime() })
          .where('id', '=', storable(id))
          .where('status', '=', 'running')
          .where('attempts', '=', attempt)
          .where('due_at', '<=', now.getTime())
          .returning('id')
          .executeTakeFirst();
        return row !== undefined;
      }),
    findMany: (ids) =>
      inFlight.run(async () => {
        const among = textsIn(flavour, ids.map(storable));
        const rows = await reading().selectFrom('job').selectAll().where('id', 'in', among).execute();
        return rows.map(jobOf);
      }),
    list: ({ kind, status }, most) =>
      inFlight.run(async () => {
        let query = reading().selectFrom('job').selectAll();
        if (kind !== null) query = query.where('kind', '=', storable(kind));
        if (status !== null) query = query.where('status', '=', status);
        return (await query.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(most).execute()).map(jobOf);
      }),
    removeEndedBefore: (before, most) =>
      inFlight.write(async () => {
        const removed = await writing()
          .deleteFrom('job')
          .where('id', 'in', (from) =>
            from
              .selectFrom('job as old')
              .select('old.id')
              .where('old.finished_at', '<', before.getTime())
              .orderBy('old.finished_at')
              .limit(most),
          )
          .returning('id')
          .execute();
        return removed.length;
      }),
    keepLatest: (kind, most) =>
      inFlight.write(async () => {
        await writing()
          .deleteFrom('job')
          .where('kind', '=', storable(kind))
          .where('finished_at', '<', (from) =>
            from
              .selectFrom('job as kept')
              .select('kept.finished_at')
              .where('kept.kind', '=', storable(kind))
              .where('kept.finished_at', 'is not', null)
              .orderBy('kept.finished_at', 'desc')
              .limit(1)
              .offset(most - 1),
          )
          .execute();
      }),
  };
}
