import {
  type Duty,
  dutyJob,
  dutyKind,
  dutyLeaseMs,
  type DutyOutcome,
  KEPT_DUTY_JOBS,
} from '../src/domain/jobs/duty.ts';
import type { Job, JobClaim } from '../src/domain/jobs/job.ts';
import { system } from './operation/access.ts';
import { operation } from './operation/operation.ts';
import type { DutyPlatform } from './operation/health-platform.ts';
import type { Scope } from './operation/scope.ts';

/** Maximum number of jobs of lost processes that one claim ends. */
const MAX_LOST_JOBS = 10;

/** A process that wants to claim the due job of a duty. */
export interface DutyWanted {
  readonly duty: Duty;
  readonly workerId: string;
  /** Start of the period whose job is added; null when the process has added it before. */
  readonly period: Date | null;
  /**
   * Whether all running jobs belong to processes that have ended, because no other process uses the database. Such jobs
   * are cancelled.
   */
  readonly leftBehind: boolean;
}

/**
 * Adds the job of a period, unless another process has added it, and claims the job of the duty that is due. Null when
 * no job is due.
 */
export const claimDuty = operation({
  name: 'claimDuty',
  access: system,
  async run({ platform }: Scope<DutyPlatform>, wanted: DutyWanted): Promise<Job | null> {
    const { duty, workerId, period, leftBehind } = wanted;
    const { clock, stores } = platform;
    const { jobs } = stores;
    const kind = dutyKind(duty);
    const addJob = async () => period !== null && (await jobs.addIfIdle(dutyJob(duty, period), clock.now()));
    if (leftBehind)
      for (const { id } of await jobs.list({ kind, status: 'running' }, MAX_LOST_JOBS))
        await jobs.cancel(id, clock.now());
    // A job is added only when none is active. Then there is no job of a lost process either.
    if (!(await addJob())) {
      if (!(await jobs.hasDue(kind, clock.now()))) return null;
      const lost = await jobs.exhausted(kind, clock.now(), MAX_LOST_JOBS);
      for (const { id, attempts } of lost)
        await jobs.markDead({ id, attempt: attempts }, 'Its process was lost repeatedly.', clock.now());
      if (lost.length > 0) await addJob();
    }
    return jobs.claim({ kind, workerId, now: clock.now(), leaseMs: dutyLeaseMs(duty) });
  },
});

/** Extends the lease of a duty. False when the claim was lost. */
export const extendDuty = operation({
  name: 'extendDuty',
  access: system,
  async run(
    { platform }: Scope<DutyPlatform>,
    { duty, claim }: { readonly duty: Duty; readonly claim: JobClaim },
  ): Promise<boolean> {
    const { clock, stores } = platform;
    return (await stores.jobs.extend(claim, clock.now(), dutyLeaseMs(duty))) !== null;
  },
});

/**
 * Ends the claim of a duty, unless it was lost. A released job is due again; otherwise, old jobs of the duty are
 * removed.
 */
export const endDuty = operation({
  name: 'endDuty',
  access: system,
  async run(
    { platform }: Scope<DutyPlatform>,
    { duty, claim, outcome }: { readonly duty: Duty; readonly claim: JobClaim; readonly outcome: DutyOutcome },
  ): Promise<void> {
    const { clock, stores } = platform;
    const now = clock.now();
    if (outcome.kind === 'released') {
      await stores.jobs.retry(claim, { dueAt: now, error: '', counts: false }, now);
      return;
    }
    const error = outcome.kind === 'failed' ? outcome.error : '';
    await stores.jobs.end(claim, { status: outcome.kind, error }, now);
    await stores.jobs.keepLatest(dutyKind(duty), KEPT_DUTY_JOBS);
  },
});
