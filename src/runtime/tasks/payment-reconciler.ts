import type { Clock } from '../../domain/clock.ts';
import type { Log } from '../telemetry/log.ts';
import { withinDeadline } from './deadline.ts';

/** Period of the first check: longer than a payment provider retries a webhook. */
const FIRST_LOOK_MS = 7 * 86_400_000;
/** Overlap of checks, because the provider's clock and lists may be behind. */
const OVERLAP_MS = 600_000;

/** Periodic work of each process. */
export interface Reconciler {
  /** Checks now, and then periodically. */
  start(): void;
  /** Starts no further check; the running one is aborted. */
  stop(): void;
}

/** Calls `reconcile` with the start of its last successful call, with an overlap; the first time a week back. */
export function sinceLastLook(
  clock: Clock,
  reconcile: (since: Date, signal: AbortSignal) => Promise<void>,
): (signal: AbortSignal) => Promise<void> {
  let since = new Date(clock.now().getTime() - FIRST_LOOK_MS);
  return async (signal) => {
    const began = clock.now().getTime();
    await reconcile(since, signal);
    since = new Date(began - OVERLAP_MS);
  };
}

/**
 * Checks periodically, with a pause after each check. A failed check, and one that is aborted at its deadline, is logged and
 * repeated at the next interval.
 */
export function createReconciler(options: {
  /** Name of the checked objects for the log, e.g. `payments`. */
  readonly what: string;
  /** Interval; zero never checks. */
  readonly seconds: number;
  /** Longest time of a check, in seconds. */
  readonly longestSeconds: number;
  readonly reconcile: (signal: AbortSignal) => Promise<void>;
  readonly log: Log;
}): Reconciler {
  const { what, seconds, longestSeconds, reconcile, log } = options;
  const deadlineMs = longestSeconds * 1000;
  const stopping = new AbortController();
  const { signal } = stopping;
  let timer: NodeJS.Timeout | undefined;

  async function look(): Promise<void> {
    try {
      await withinDeadline(reconcile, { deadlineMs, signal });
    } catch (error) {
      if (!signal.aborted) log.warn({ err: error }, `${what} not reconciled; trying again`);
    }
    if (signal.aborted) return;
    timer = setTimeout(() => void look(), seconds * 1000);
    timer.unref();
  }

  return {
    start() {
      if (seconds > 0) void look();
    },
    stop() {
      stopping.abort();
      clearTimeout(timer);
    },
  };
}
