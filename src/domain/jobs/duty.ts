import type { Job, JobClaim, NewJob } from './job.ts';

/** Periodic work that one process does for all processes over a database. */
export interface Duty {
  /** Unique, e.g. `payments`. */
  readonly name: string;
  /** Length of a period, in ms. The duty runs once in each period. */
  readonly everyMs: number;
}

/** Prefix of the kinds of duties. */
const KIND_PREFIX = 'duty:';
/** Maximum number of attempts of the job of one period. */
const MAX_ATTEMPTS = 3;
/** Bounds of a lease, in ms. */
const MIN_LEASE_MS = 10_000;
const MAX_LEASE_MS = 30_000;
/** Ended jobs of a duty that are kept. */
export const KEPT_DUTY_JOBS = 20;

/** Kind of the jobs of a duty. */
export const dutyKind = ({ name }: Pick<Duty, 'name'>): string => KIND_PREFIX + name;

/** Start of the period of an instant. Periods are counted from `anchor`, which is the same in all processes. */
export function periodStart({ everyMs }: Duty, now: Date, anchor: Date): Date {
  const from = anchor.getTime();
  return new Date(from + Math.floor((now.getTime() - from) / everyMs) * everyMs);
}

/** The job of a period. Its id is the same in every process, so that it is added once. */
export const dutyJob = (duty: Duty, period: Date): NewJob => ({
  id: `${dutyKind(duty)}@${period.toISOString()}`,
  kind: dutyKind(duty),
  subject: period.toISOString(),
  dueAt: period,
  mostAttempts: MAX_ATTEMPTS,
});

/** Time in ms after which the duty of a lost process is taken over: two periods, at least 10 and at most 30 seconds. */
export const dutyLeaseMs = ({ everyMs }: Duty): number => Math.min(MAX_LEASE_MS, Math.max(MIN_LEASE_MS, everyMs * 2));

/** How a run of a duty ended. `released`: at a shutdown; another process may run it immediately. */
export type DutyOutcome =
  | { readonly kind: 'completed' }
  | { readonly kind: 'failed'; readonly error: string }
  | { readonly kind: 'released' };

/** Claims of duties, as their runner uses them. */
export interface DutyBackend {
  /**
   * Adds the job of a period (none for null). Then claims the duty's job that is due first. Null when no job is due, or
   * another process holds it.
   */
  claim(duty: Duty, period: Date | null): Promise<Job | null>;
  /** Extends the lease of a claim. False when the duty belongs to another process. */
  extend(duty: Duty, claim: JobClaim): Promise<boolean>;
  /** Ends a valid claim. */
  end(duty: Duty, claim: JobClaim, outcome: DutyOutcome): Promise<void>;
}
