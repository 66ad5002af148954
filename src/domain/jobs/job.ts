import { storable } from '../storable.ts';

/** `dead`: out of attempts, after failures or lost workers. */
export type JobStatus = 'queued' | 'running' | 'completed' | 'failed' | 'cancelled' | 'dead';

/** Background work that survives a process: one worker at a time holds it under a lease. */
export interface Job {
  readonly id: string;
  /** Kind of its work, e.g. `lens-run`. Workers claim by kind. */
  readonly kind: string;
  /** Id of the object that it works on. */
  readonly subject: string;
  readonly status: JobStatus;
  readonly createdAt: Date;
  /**
   * Time from which it may be claimed: the time given at its creation, or the end of a delay. While it runs, the end of
   * its lease.
   */
  readonly dueAt: Date;
  /** Number of claims. It is the fencing token: a worker of an earlier claim can no longer write. */
  readonly attempts: number;
  /** Maximum number of claims. A job that fails or loses its worker after the last one is dead. */
  readonly mostAttempts: number;
  /** Worker of the last claim; null before the first. */
  readonly workerId: string | null;
  /** Null until it has ended. */
  readonly finishedAt: Date | null;
  /** Why it ended or was delayed; empty without a failure. */
  readonly error: string;
}

/** A job to add. */
export type NewJob = Pick<Job, 'id' | 'kind' | 'subject' | 'dueAt' | 'mostAttempts'>;

/** A job right after it was added, with texts as stores keep them. */
export const queuedJob = ({ id, kind, subject, dueAt, mostAttempts }: NewJob, now: Date): Job => ({
  id,
  kind: storable(kind),
  subject: storable(subject),
  status: 'queued',
  createdAt: now,
  dueAt,
  attempts: 0,
  mostAttempts,
  workerId: null,
  finishedAt: null,
  error: '',
});

/** Proof of one claim. */
export interface JobClaim {
  readonly id: string;
  readonly attempt: number;
}

export const claimOf = ({ id, attempts }: Job): JobClaim => ({ id, attempt: attempts });

/** Whether a worker holds a job now. */
export const isHeld = ({ status, dueAt }: Job, now: Date): boolean => status === 'running' && dueAt > now;

/** Parameters of a claim. */
interface JobWanted {
  readonly kind: string;
  readonly workerId: string;
  readonly now: Date;
  readonly leaseMs: number;
}

/** Filter of jobs; null matches all. */
interface JobFilter {
  readonly kind: string | null;
  readonly status: JobStatus | null;
}

/** A job that is to run again. */
interface Delayed {
  readonly dueAt: Date;
  readonly error: string;
  /** Whether the attempt counts against `mostAttempts`. */
  readonly counts: boolean;
}

/** Persistent jobs, shared by all processes over one database. */
export interface JobStore {
  /** Adds a job. Does nothing when its id is taken. */
  add(job: NewJob, now: Date): Promise<void>;
  /**
   * Adds a job unless its id is taken or another job of its kind has not ended. Resolves to whether it was added. Two
   * processes that add jobs with different ids at the same instant may both succeed.
   */
  addIfIdle(job: NewJob, now: Date): Promise<boolean>;
  /** Whether a job of this kind can be claimed, or is out of attempts (`exhausted`); a cheap read. */
  hasDue(kind: string, now: Date): Promise<boolean>;
  /**
   * Claims the job that is due first: a queued one, or a running one whose lease has ended. Two workers never claim the
   * same job, and no worker waits for another. Null when there is none. Jobs out of attempts are left out, see
   * `exhausted`.
   */
  claim(wanted: JobWanted): Promise<Job | null>;
  /**
   * Extends the lease of a claim. Null when it no longer holds: its lease has ended, or the job was claimed again or
   * ended.
   */
  extend(claim: JobClaim, now: Date, leaseMs: number): Promise<Job | null>;
  /** Ends a claimed job. False when the claim no longer holds. */
  end(
    claim: JobClaim,
    ending: { readonly status: 'completed' | 'failed'; readonly error: string },
    now: Date,
  ): Promise<boolean>;
  /**
   * Returns a claimed job to the queue, to be claimed from `dueAt` on. A job without further attempts is dead. An
   * attempt that does not count, as at a shutdown, is allowed again. Null when the claim no longer holds.
   */
  retry(claim: JobClaim, delayed: Delayed, now: Date): Promise<Job | null>;
  /** Cancels a job. Null when it does not exist or has ended. */
  cancel(id: string, now: Date): Promise<Job | null>;
  /** Running jobs without further attempts whose lease has ended, the oldest first. `markDead` marks them dead. */
  exhausted(kind: string, now: Date, most: number): Promise<readonly Job[]>;
  /** Marks a job of `exhausted` dead. False when it has ended since. */
  markDead(claim: JobClaim, error: string, now: Date): Promise<boolean>;
  /** The jobs of these ids that exist, in no particular order. */
  findMany(ids: readonly string[]): Promise<readonly Job[]>;
  /** The latest jobs that match, newest first. */
  list(filter: JobFilter, most: number): Promise<readonly Job[]>;
  /** Removes at most `most` jobs that ended before an instant; resolves to their number. */
  removeEndedBefore(before: Date, most: number): Promise<number>;
  /** Removes the ended jobs of a kind, except the `most` that ended last. */
  keepLatest(kind: string, most: number): Promise<void>;
}

/** First and maximum delay in ms before a failed job runs again. */
const FIRST_DELAY_MS = 1_000;
const MAX_DELAY_MS = 300_000;

/** Delay before the next attempt, doubled with each one: 1 s after the first, at most five minutes. */
export const backoffMs = (attempts: number): number =>
  Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.max(0, attempts - 1));
