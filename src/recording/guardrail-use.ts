import type { CallRecord } from '../domain/calls/call-record.ts';
import type { Clock } from '../domain/clock.ts';
import {
  type GuardrailDay,
  type GuardrailRun,
  type GuardrailUseBatch,
  type GuardrailUseStore,
  runsOf,
} from '../domain/guardrails/guardrail-use.ts';
import type { ScheduledTask, Scheduler } from '../domain/scheduler.ts';

/** Counts runs of guardrails in memory and commits them to a store. */
export interface GuardrailUseCounter {
  /** Counts the runs of a recorded call. Never throws. */
  count(call: CallRecord): void;
  /**
   * Commits all counts so far. Rejects when the commit fails. The counts are then kept, and the next call commits them
   * again.
   */
  flush(): Promise<void>;
  /** Flushes periodically from now on. */
  start(): void;
  /** Starts no further periodic flush. */
  stop(): void;
}

interface GuardrailUseOptions {
  /** Id of this process, unique among all that share the store. */
  readonly process: string;
  readonly store: Pick<GuardrailUseStore, 'add'>;
  readonly clock: Clock;
  /** Time from the end of a periodic flush to the next one, in ms. */
  readonly everyMs: number;
  readonly scheduler: Scheduler;
}

/**
 * Maximum number of runs of one batch that are stored individually. Passed runs are never stored individually. All runs
 * are counted.
 */
const MAX_STORED_RUNS = 1_000;
/** How long the individual runs stay stored, in ms. */
const RETENTION_MS = 90 * 86_400_000;

type Counts = { -readonly [Name in keyof GuardrailDay]: GuardrailDay[Name] };

export function createGuardrailUseCounter({
  process,
  store,
  clock,
  everyMs,
  scheduler,
}: GuardrailUseOptions): GuardrailUseCounter {
  /** Counts by day and guardrail. */
  const days = new Map<string, Counts>();
  /** Runs of the next batch that are stored individually. */
  let storedRuns: GuardrailRun[] = [];
  /** Batch whose commit may have failed. It is repeated unchanged, so that the store counts it once. */
  let pending: GuardrailUseBatch | null = null;
  let lastBatchNumber = 0;
  let lastFlush: Promise<void> = Promise.resolve();
  let flushTask: ScheduledTask | null = null;

  function countRun(run: GuardrailRun): void {
    const day = run.at.toISOString().slice(0, 10);
    const key = `${day} ${run.guardrailId}`;
    const { guardrailId, name, kind } = run;
    const counts = days.get(key) ?? {
      day,
      guardrailId,
      name,
      kind,
      passed: 0,
      flagged: 0,
      intervened: 0,
      failed: 0,
      latencyMs: 0,
    };
    counts[run.result] += 1;
    counts.latencyMs += run.latencyMs;
    days.set(key, counts);
    if (run.result !== 'passed' && storedRuns.length < MAX_STORED_RUNS) storedRuns.push(run);
  }

  function takeBatch(): GuardrailUseBatch | null {
    if (days.size === 0) return null;
    lastBatchNumber += 1;
    const batch = { process, number: lastBatchNumber, days: [...days.values()], runs: storedRuns };
    days.clear();
    storedRuns = [];
    return batch;
  }

  async function commitAll(): Promise<void> {
    pending ??= takeBatch();
    while (pending !== null) {
      const now = clock.now();
      // oxlint-disable-next-line no-await-in-loop -- batches are committed in the order of their numbers
      await store.add(pending, now, new Date(now.getTime() - RETENTION_MS));
      pending = takeBatch();
    }
  }

  function flush(): Promise<void> {
    const current = lastFlush.then(commitAll);
    lastFlush = current.catch(() => {});
    return current;
  }

  return {
    count(call) {
      for (const run of runsOf(call)) countRun(run);
    },
    flush,
    start() {
      flushTask = scheduler.every({ name: 'guardrail-counts', everyMs, run: flush });
    },
    stop: () => void flushTask?.stop(),
  };
}
