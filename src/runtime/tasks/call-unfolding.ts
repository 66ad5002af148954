import type { CallStore } from '../../domain/calls/call-record.ts';
import type { TraceSummary } from '../../domain/traces/trace.ts';
import type { Log } from '../telemetry/log.ts';

/**
 * Number of calls in the call log above which commits wait. Unfolding that many calls takes about a second, and the
 * next read waits for it.
 */
const MAX_BACKLOG = 65_536;
/** A commit of at least this many calls is busy. A smaller commit means low load and is unfolded immediately. */
const BUSY_CALLS = 400;
/** Time without a busy commit after which the load counts as low, in ms. */
const QUIET_MS = 1_000;
/**
 * Maximum time that committed calls stay in the log under load, in ms. SQL views contain unfolded calls only
 * (docs/sql-views.md).
 */
const MAX_DELAY_MS = 5_000;
const RETRY_MS = 5_000;

/** Unfolds the call log, preferably while the load is low. */
export interface Unfolding {
  /** Called after each commit with its number of calls. Resolves immediately unless too many calls are in the log. */
  committed(calls: number): Promise<void>;
  /** Unfolds the calls that an earlier process left in the log. */
  start(): void;
  /** Starts no further step; resolves when the running one has ended. The next start unfolds the rest. */
  stop(): Promise<void>;
}

export function createUnfolding({
  store,
  merged,
  log,
}: {
  readonly store: Pick<CallStore, 'backlog' | 'unfold'>;
  /** Called with the summaries of a step, if there are any: see `CallStore.unfold`. */
  readonly merged: (summaries: readonly TraceSummary[]) => Promise<void>;
  readonly log: Pick<Log, 'warn'>;
}): Unfolding {
  let stopped = false;
  /** Whether a busy commit has ended since `startSteps` was called last. */
  let busy = false;
  /** Earliest possible commit time of the calls in the log; null while the log is empty. */
  let waitingSinceMs: number | null = null;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | null = null;

  function scheduleStep(delayMs: number): void {
    clearTimeout(timer);
    if (stopped) return;
    timer = setTimeout(startSteps, delayMs);
    timer.unref();
  }

  const isOverdue = (): boolean => waitingSinceMs !== null && performance.now() - waitingSinceMs >= MAX_DELAY_MS;

  /** Unfolds in steps until the backlog is empty, or the load is high and nothing is overdue. */
  function startSteps(): void {
    if (stopped) return;
    busy = false;
    running ??= unfoldSteps().finally(() => {
      running = null;
    });
  }

  async function unfold(): Promise<void> {
    const summaries = await store.unfold();
    if (summaries.length > 0) await merged(summaries);
  }

  async function unfoldSteps(): Promise<void> {
    /** Whether the rest of the log may wait until the load is low. */
    const mayWait = (): boolean => busy && !isOverdue();
    try {
      do await unfold();
      while (store.backlog() > 0 && !mayWait() && !stopped);
      if (store.backlog() === 0) waitingSinceMs = null;
    } catch (error) {
      log.warn({ err: error, waiting: store.backlog() }, 'calls could not be unfolded; trying again');
      scheduleStep(RETRY_MS);
    }
  }

  return {
    async committed(calls) {
      // When only calls of this commit are in the log, a reader has unfolded the calls of earlier commits.
      if (waitingSinceMs === null || store.backlog() <= calls) waitingSinceMs = performance.now();
      if (calls < BUSY_CALLS || isOverdue()) return startSteps();
      busy = true;
      scheduleStep(QUIET_MS);
      // Backpressure: the commit waits for room in the log.
      while (store.backlog() > MAX_BACKLOG && !stopped) await unfold();
    },
    start: startSteps,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
