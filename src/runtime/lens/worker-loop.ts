import type { Clock } from '../../domain/clock.ts';
import { investigate } from '../../domain/lens/pipeline/investigation.ts';
import {
  type ClaimedRun,
  HEARTBEAT_MS,
  type LensBackend,
  OwnershipLost,
  type RunClaim,
} from '../../domain/lens/worker.ts';
import type { ScheduledTask, Scheduler } from '../../domain/scheduler.ts';
import { pause } from '../clock.ts';
import type { Log } from '../telemetry/log.ts';

/** A worker of lens runs: claims and investigates several runs at the same time. */
export interface WorkerLoop {
  start(): void;
  /**
   * Claims no further run and interrupts the running ones. Resolves when these have ended. A backend with `release`
   * queues the interrupted runs again.
   */
  stop(): Promise<void>;
}

interface LoopOptions {
  readonly backend: LensBackend;
  /** Maximum number of simultaneous runs. */
  readonly slots: number;
  /** Interval between claims while there is no work, in ms. */
  readonly pollMs: number;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly log: Pick<Log, 'info' | 'warn'>;
}

/** Maximum interval between claims after failures, in ms. */
const MAX_POLL_MS = 60_000;

export function createWorkerLoop({ backend, slots, pollMs, clock, scheduler, log }: LoopOptions): WorkerLoop {
  const stopping = new AbortController();
  const { signal } = stopping;
  let running: Promise<unknown> = Promise.resolve();

  /** Extends the lease of a run periodically; calls `lost` when the run belongs to another worker. */
  const extendLease = (claim: RunClaim, lost: (reason: Error) => void): ScheduledTask =>
    scheduler.every({
      name: 'lens-run-lease',
      everyMs: HEARTBEAT_MS,
      async run(heartbeatSignal) {
        try {
          await backend.heartbeat(claim, heartbeatSignal);
        } catch (error) {
          if (!(error instanceof OwnershipLost)) throw error;
          lost(error);
        }
      },
    });

  async function work(claimed: ClaimedRun): Promise<void> {
    const claim = { lensId: claimed.lensId, runId: claimed.run.id, attempt: claimed.run.attempts };
    const lost = new AbortController();
    const lease = extendLease(claim, (reason) => lost.abort(reason));
    const runSignal = AbortSignal.any([signal, lost.signal]);
    try {
      await investigate(claimed, { backend, clock, signal: runSignal });
    } catch (error) {
      if (error instanceof OwnershipLost || lost.signal.aborted)
        log.info({ ...claim }, 'a lens run belongs to another worker');
      else if (signal.aborted) await backend.release?.(claim, null);
      else {
        log.warn({ err: error, ...claim }, 'a lens run failed');
        await backend.release?.(claim, error instanceof Error ? error.message : String(error));
      }
    } finally {
      await lease.stop();
    }
  }

  /**
   * Claims and investigates one run after another until the stop. Not a task of the scheduler, because the next claim
   * follows a run immediately. The stop also waits until an interrupted run is returned to the queue.
   */
  async function claimRuns(): Promise<void> {
    let failures = 0;
    while (!signal.aborted) {
      try {
        const claimed = await backend.claim(signal);
        failures = 0;
        if (claimed === null) await pause(pollMs, signal);
        else await work(claimed);
      } catch (error) {
        if (signal.aborted) return;
        log.warn({ err: error }, 'a lens run could not be claimed or returned; trying again');
        failures += 1;
        await pause(Math.min(MAX_POLL_MS, pollMs * 2 ** Math.min(failures, 10)), signal).catch(() => {});
      }
    }
  }

  return {
    start() {
      running = Promise.all(Array.from({ length: slots }, () => claimRuns()));
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
