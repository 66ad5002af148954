import { type ExpressionBuilder, type ExpressionWrapper, type Selectable, type SqlBool } from 'kysely';
import {
  type Job,
  type JobClaim,
  type JobStatus,
  type JobStore,
  type NewJob,
  queuedJob,
} from '../../domain/jobs/job.ts';
import { storable } from '../../domain/storable.ts';
import type { Database } from '../database/database.ts';
import { type Placeholder, preparedQuery } from '../database/prepared-query.ts';
import { columnNames, rowTable, textsInJson } from '../database/rows.ts';
import type { Tables } from '../database/tables.ts';

type JobRow = Selectable<Tables['job']>;
type Builder = ExpressionBuilder<Tables, 'job'>;
type Condition = ExpressionWrapper<Tables, 'job', SqlBool>;

/** Values of a query for jobs of a kind; `now` is Unix ms. */
interface OfKind {
  readonly kind: string;
  readonly now: number;
}

/** Values of a query for the job of a claim; `now` is Unix ms. */
interface OfClaim {
  readonly id: string;
  readonly attempt: number;
  readonly now: number;
}

const ACTIVE: readonly JobStatus[] = ['queued', 'running'];

const ofKind = (kind: string, now: Date): OfKind => ({ kind: storable(kind), now: now.getTime() });
const ofClaim = ({ id, attempt }: JobClaim, now: Date): OfClaim => ({ id: storable(id), attempt, now: now.getTime() });

/**
 * Condition: queued jobs of a kind that are due, and running jobs whose lease has ended. `due_at` of a running job is
 * the end of its lease.
 */
const due =
  (given: Placeholder<OfKind>) =>
  (job: Builder): Condition =>
    job.and([job('kind', '=', given('kind')), job('status', 'in', ACTIVE), job('due_at', '<=', given('now'))]);

/** Condition: the job of a claim whose lease has not ended (`>`), or has ended (`<=`). */
const claimed =
  (given: Placeholder<OfClaim>, lease: '>' | '<=') =>
  (job: Builder): Condition =>
    job.and([
      job('id', '=', given('id')),
      job('status', '=', 'running'),
      job('attempts', '=', given('attempt')),
      job('due_at', lease, given('now')),
    ]);

const newRow = (job: NewJob, now: Date): JobRow => {
  const { id, kind, subject, status, attempts, error, mostAttempts, dueAt } = queuedJob(job, now);
  const times = { created_at: now.getTime(), due_at: dueAt.getTime(), finished_at: null };
  return { id, kind, subject, status, ...times, attempts, most_attempts: mostAttempts, worker_id: null, error };
};

const jobOf = (row: JobRow): Job => ({
  id: row.id,
  kind: row.kind,
  subject: row.subject,
  status: row.status,
  createdAt: new Date(row.created_at),
  dueAt: new Date(row.due_at),
  attempts: row.attempts,
  mostAttempts: row.most_attempts,
  workerId: row.worker_id,
  finishedAt: row.finished_at === null ? null : new Date(row.finished_at),
  error: row.error,
});

const firstJob = ([row]: readonly JobRow[]): Job | null => (row === undefined ? null : jobOf(row));

/**
 * Jobs as rows. Each change is one conditional statement, so that no job changes between a check and a write. As
 * managed entities, jobs would cost an idle process most of its CPU.
 */
export function createJobStore({ orm, flavour, readRows, writeRows }: Database): JobStore {
  const columns = columnNames(rowTable(orm, 'job'));
  /** Adds a row unless its id is taken, and, with `onlyIdle`, unless a job of its kind is active. */
  const addition = (onlyIdle: boolean) =>
    preparedQuery<JobRow, Pick<JobRow, 'id'>>((db, given) => {
      const row = db.selectNoFrom(columns.map((name) => given(name).as(name)));
      const active = db.selectFrom('job').select('id').where('kind', '=', given('kind')).where('status', 'in', ACTIVE);
      return db
        .insertInto('job')
        .columns(columns)
        .expression(row.where(({ lit, not, exists }) => (onlyIdle ? not(exists(active)) : lit(true))))
        .onConflict((conflict) => conflict.doNothing())
        .returning('id');
    });
  const addNew = addition(false);
  const addIfIdle = addition(true);
  const anyDue = preparedQuery<OfKind, Pick<JobRow, 'id'>>((db, given) =>
    db.selectFrom('job').select('id').where(due(given)).limit(1),
  );
  const claimFirst = preparedQuery<OfKind & { workerId: string; leaseEnd: number }, JobRow>((db, given) =>
    db
      .updateTable('job')
      .set((job) => ({
        status: 'running',
        attempts: job('attempts', '+', 1),
        worker_id: given('workerId'),
        due_at: given('leaseEnd'),
      }))
      .where('id', '=', ({ selectFrom }) => {
        const first = selectFrom('job')
          .select('id')
          .where(due(given))
          .whereRef('attempts', '<', 'most_attempts')
          .orderBy('due_at')
          .orderBy('id')
          .limit(1);
        // Skips jobs that another process is claiming. SQLite has one writer.
        return flavour === 'postgresql' ? first.forUpdate().skipLocked() : first;
      })
      .returningAll(),
  );
  const extendClaim = preparedQuery<OfClaim & { leaseEnd: number }, JobRow>((db, given) =>
    db
      .updateTable('job')
      .set({ due_at: given('leaseEnd') })
      .where(claimed(given, '>'))
      .returningAll(),
  );
  /** Ends the job of a claim whose lease has not ended (`>`), or has ended (`<=`). */
  const endingOf = (lease: '>' | '<=') =>
    preparedQuery<OfClaim & { status: JobStatus; error: string }, Pick<JobRow, 'id'>>((db, given) =>
      db
        .updateTable('job')
        .set({ status: given('status'), error: given('error'), finished_at: given('now') })
        .where(claimed(given, lease))
        .returning('id'),
    );
  const endBeforeExpiry = endingOf('>');
  const endAfterExpiry = endingOf('<=');
  const exhaustedOf = preparedQuery<OfKind & { most: number }, JobRow>((db, given) =>
    db
      .selectFrom('job')
      .selectAll()
      .where('kind', '=', given('kind'))
      .where('status', '=', 'running')
      .where('due_at', '<=', given('now'))
      .whereRef('attempts', '>=', 'most_attempts')
      .orderBy('due_at')
      .limit(given('most')),
  );
  const retryClaim = preparedQuery<OfClaim & { dueAt: number; error: string; moreAttempts: number }, JobRow>(
    (db, given) =>
      db
        .updateTable('job')
        .set((job) => {
          const mostAttempts = job('most_attempts', '+', given('moreAttempts'));
          const isExhausted = job('attempts', '>=', mostAttempts);
          return {
            status: job.case().when(isExhausted).then<JobStatus>('dead').else<JobStatus>('queued').end(),
            due_at: given('dueAt'),
            most_attempts: mostAttempts,
            finished_at: job
              .case()
              .when(isExhausted)
              .then(job.cast<number>(given('now'), 'double precision'))
              .end(),
            error: given('error'),
          };
        })
        .where(claimed(given, '>'))
        .returningAll(),
  );
  const withIds = preparedQuery<{ ids: string }, JobRow>((db, given) =>
    db
      .selectFrom('job')
      .selectAll()
      .where('id', 'in', textsInJson(flavour, given('ids'))),
  );
  /** Removes ended jobs of a kind, except the job that ended last and the `earlier` jobs that ended before it. */
  const removeButLatest = preparedQuery<{ kind: string; earlier: number }, never>((db, given) =>
    db
      .deleteFrom('job')
      .where('kind', '=', given('kind'))
      .where('finished_at', '<', ({ selectFrom }) =>
        selectFrom('job')
          .select('finished_at')
          .where('kind', '=', given('kind'))
          .where('finished_at', 'is not', null)
          .orderBy('finished_at', 'desc')
          .limit(1)
          .offset(given('earlier')),
      ),
  );

  return {
    async add(job, now) {
      await writeRows((db) => addNew(db, newRow(job, now)));
    },
    addIfIdle: async (job, now) => (await writeRows((db) => addIfIdle(db, newRow(job, now)))).length > 0,
    hasDue: async (kind, now) => (await readRows((db) => anyDue(db, ofKind(kind, now)))).length > 0,
    claim: async ({ kind, workerId, now, leaseMs }) =>
      firstJob(
        await writeRows((db) => claimFirst(db, { ...ofKind(kind, now), workerId, leaseEnd: now.getTime() + leaseMs })),
      ),
    extend: async (claim, now, leaseMs) =>
      firstJob(await writeRows((db) => extendClaim(db, { ...ofClaim(claim, now), leaseEnd: now.getTime() + leaseMs }))),
    async end(claim, { status, error }, now) {
      const ending = { ...ofClaim(claim, now), status, error: storable(error) };
      return (await writeRows((db) => endBeforeExpiry(db, ending))).length > 0;
    },
    async retry(claim, { dueAt, error, counts }, now) {
      // An attempt that does not count raises the maximum by one.
      const moreAttempts = counts ? 0 : 1;
      const retry = { ...ofClaim(claim, now), dueAt: dueAt.getTime(), error: storable(error), moreAttempts };
      return firstJob(await writeRows((db) => retryClaim(db, retry)));
    },
    cancel: async (id, now) =>
      firstJob(
        await writeRows((db) =>
          db
            .updateTable('job')
            .set({ status: 'cancelled', finished_at: now.getTime() })
            .where('id', '=', storable(id))
            .where('status', 'in', ACTIVE)
            .returningAll()
            .execute(),
        ),
      ),
    exhausted: async (kind, now, most) =>
      (await readRows((db) => exhaustedOf(db, { ...ofKind(kind, now), most }))).map(jobOf),
    async markDead(claim, error, now) {
      const ending = { ...ofClaim(claim, now), status: 'dead', error: storable(error) } as const;
      return (await writeRows((db) => endAfterExpiry(db, ending))).length > 0;
    },
    findMany: async (ids) =>
      (await readRows((db) => withIds(db, { ids: JSON.stringify(ids.map(storable)) }))).map(jobOf),
    list: async ({ kind, status }, most) => {
      const rows = await readRows((db) =>
        db
          .selectFrom('job')
          .selectAll()
          .$if(kind !== null, (query) => query.where('kind', '=', storable(kind ?? '')))
          .$if(status !== null, (query) => query.where('status', '=', status))
          .orderBy('created_at', 'desc')
          .orderBy('id', 'desc')
          .limit(most)
          .execute(),
      );
      return rows.map(jobOf);
    },
    removeEndedBefore: (before, most) =>
      writeRows(async (db) => {
        const oldest = db
          .selectFrom('job')
          .select('id')
          .where('finished_at', '<', before.getTime())
          .orderBy('finished_at')
          .limit(most);
        const [result] = await db.deleteFrom('job').where('id', 'in', oldest).execute();
        return Number(result?.numDeletedRows ?? 0n);
      }),
    async keepLatest(kind, most) {
      await writeRows((db) => removeButLatest(db, { kind: storable(kind), earlier: most - 1 }));
    },
  };
}
