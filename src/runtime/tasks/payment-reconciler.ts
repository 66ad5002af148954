import type { Clock } from '../../domain/clock.ts';
import type { Log } from '../telemetry/log.ts';

/** Period of the first check: longer than a payment provider retries a webhook. */
const FIRST_LOOK_MS = 7 * 86_400_000;
/** Overlap of checks, because the provider's clock and lists may be behind. */
const OVERLAP_MS = 600_000;

/** Periodically checks for missed webhooks. */
export interface Reconciler {
  /** Checks now, and then periodically. */
  start(): void;
  /** Starts no further check; the running one is aborted. */
  stop(): void;
}

/** Reads everything since the last successful check. A failed check is logged and repeated at the next interval. */
export function createReconciler(options: {
  /** Name of the checked objects for the log, e.g. `payments`. */
  readonly what: string;
  /** Interval; zero never checks. */
  readonly seconds: number;
  readonly clock: Clock;
  readonly reconcile: (since: Date, signal: AbortSignal) => Promise<void>;
  readonly log: Log;
}): Reconciler {
  const { what, seconds, clock, reconcile, log } = options;
  let since = new Date(clock.now().getTime() - FIRST_LOOK_MS);
  const stopping = new AbortController();
  const { signal } = stopping;
  let timer: NodeJS.Timeout | undefined;

  async function look(): Promise<void> {
    const began = clock.now().getTime();
    try {
      await reconcile(since, signal);
      since = new Date(began - OVERLAP_MS);
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
