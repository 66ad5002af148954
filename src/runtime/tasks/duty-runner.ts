import type { Clock } from '../../domain/clock.ts';
import { type Duty, type DutyBackend, dutyLeaseMs, periodStart } from '../../domain/jobs/duty.ts';
import type { DutyRun } from '../../domain/jobs/duty-run.ts';
import { claimOf, type Job } from '../../domain/jobs/job.ts';
import type { ScheduledTask, Scheduler } from '../../domain/scheduler.ts';
import type { Log } from '../telemetry/log.ts';
import { runWithDeadline } from './run-with-deadline.ts';

/** Runs one duty. Of all processes with the same database, one runs it in each period. */
export interface DutyRunner {
  start(): void;
  /**
   * Claims no further job and aborts the running one, which returns to the queue. Resolves as `ScheduledTask.stop`
   * does.
   */
  stop(): Promise<void>;
}

interface DutyRunnerOptions {
  readonly duty: Duty;
  readonly backend: DutyBackend;
  /** Whether no other process uses the database, so that none leaves a job behind while this process runs. */
  readonly alone: boolean;
  /** Start of the first period. */
  readonly anchor: Date;
  /** Maximum time of a run, in ms. A longer run is aborted, and the work runs again in the next period. */
  readonly deadlineMs: number;
  /** Delay of the first claim after the start, in ms. */
  readonly firstClaimMs: number;
  /** The work of the duty. Rejects with the signal's reason when the signal ends the work early. */
  readonly work: (signal: AbortSignal) => Promise<void>;
  /** Called after each run, before its job ends; it must not throw. */
  readonly onRun: (run: DutyRun) => void;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly log: Pick<Log, 'warn'>;
}

/** Another process has the lease of the duty now. */
class DutyLost extends Error {
  override readonly name = 'DutyLost';
}

/**
 * Claims the job of each period when the period begins. Unless the process is alone, it also claims twice per lease
 * time. So it takes over jobs of processes that stopped during their work. A failed claim is repeated at the same
 * interval. While the work runs, its lease is extended. A run that fails or exceeds its deadline is logged, and the
 * work runs again in the next period.
 */
export function createDutyRunner(options: DutyRunnerOptions): DutyRunner {
  const { duty, backend, alone, anchor, deadlineMs, firstClaimMs, work, onRun, clock, scheduler, log } = options;
  const leaseMs = dutyLeaseMs(duty);
  let task: ScheduledTask | null = null;
  /** Start of the latest period whose job this process has added, in Unix ms. */
  let lastAddedMs = Number.NEGATIVE_INFINITY;

  async function run(job: Job, signal: AbortSignal): Promise<void> {
    const claim = claimOf(job);
    const lost = new AbortController();
    const runSignal = AbortSignal.any([signal, lost.signal]);
    const lease = scheduler.every({
      name: `lease-of-${duty.name}`,
      everyMs: leaseMs / 3,
      deadlineMs: leaseMs / 3,
      async run() {
        if (!(await backend.extend(duty, claim))) lost.abort(new DutyLost(duty.name));
      },
    });
    const startedAt = clock.now();
    let outcome: DutyRun['outcome'] = { kind: 'completed' };
    try {
      await runWithDeadline(work, { deadlineMs, signal: runSignal });
    } catch (error) {
      if (lost.signal.aborted) outcome = { kind: 'lost' };
      else if (signal.aborted) outcome = { kind: 'released' };
      else {
        outcome = { kind: 'failed', error: error instanceof Error ? error.message : String(error) };
        log.warn({ err: error, duty: duty.name }, 'a duty failed; trying again in the next period');
      }
    } finally {
      void lease.stop();
    }
    onRun({ duty, job, startedAt, endedAt: clock.now(), outcome });
    if (outcome.kind !== 'lost') await backend.end(duty, claim, outcome);
  }

  async function claimAndRun(signal: AbortSignal): Promise<void> {
    const period = periodStart(duty, clock.now(), anchor);
    const isNew = period.getTime() !== lastAddedMs;
    if (alone && !isNew) return;
    // With null, the backend adds no job and only claims one that is due.
    const job = await backend.claim(duty, isNew ? period : null);
    lastAddedMs = period.getTime();
    if (job !== null) await run(job, signal);
  }

  function nextClaimMs(): number {
    const now = clock.now();
    const periodMs = periodStart(duty, now, anchor).getTime();
    const untilPeriod = periodMs + duty.everyMs - now.getTime();
    return alone && periodMs === lastAddedMs ? untilPeriod : Math.min(untilPeriod, leaseMs / 2);
  }

  return {
    start() {
      task = scheduler.every({ name: duty.name, everyMs: nextClaimMs, firstMs: firstClaimMs, run: claimAndRun });
    },
    stop: async () => task?.stop(),
  };
}
