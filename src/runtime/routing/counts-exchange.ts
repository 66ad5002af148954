import type { CountsLedger, LocalCounts } from '../../domain/routing/shared-counts.ts';
import type { ScheduledTask, Scheduler } from '../../domain/scheduler.ts';

/** Time between two exchanges, in ms. */
const EXCHANGE_MS = 1_000;
/** Maximum time between two exchanges, in ms. */
const MAX_EXCHANGE_MS = 30_000;

/** Exchanges the counts of this process with those of others, in the background. */
export interface CountsExchange {
  /** Runs no further exchange. Resolves when the current one has ended. */
  stop(): Promise<void>;
}

/**
 * Starts the exchange of counts. While the ledger does not answer, the process uses its own counts and those that it
 * has read in this minute. The time to the next exchange then doubles each time: the client of a server that hangs
 * keeps each report in memory.
 */
export function startCountsExchange({
  ledger,
  counts,
  process,
  scheduler,
  changed,
}: {
  readonly ledger: CountsLedger;
  readonly counts: LocalCounts;
  /** Id of this process. */
  readonly process: string;
  readonly scheduler: Scheduler;
  /** Reports the first failure after a success, and the first success after a failure (null). */
  readonly changed: (failure: unknown) => void;
}): CountsExchange {
  /** Failures since the last success. */
  let failures = 0;

  async function exchange(): Promise<void> {
    const report = counts.report();
    try {
      counts.accept(report, await ledger.exchange(process, report));
      if (failures > 0) changed(null);
      failures = 0;
    } catch (failure) {
      if (failures === 0) changed(failure);
      failures += 1;
    }
  }

  const task: ScheduledTask = scheduler.every({
    name: 'routing-counts',
    everyMs: () => Math.min(EXCHANGE_MS * 2 ** failures, MAX_EXCHANGE_MS),
    firstMs: 0,
    run: exchange,
  });
  return { stop: () => task.stop() };
}
