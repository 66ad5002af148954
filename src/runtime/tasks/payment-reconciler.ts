import type { Clock } from '../../domain/clock.ts';
import type { Log } from '../telemetry/log.ts';

/** The first look goes back this far: longer than a payment provider keeps sending a message. */
const FIRST_LOOK_MS = 7 * 86_400_000;
/** Looks overlap, since the other side's clock and lists may lag behind ours. */
const OVERLAP_MS = 600_000;

/** Looks again and again for what should have been told and was not. */
export interface Reconciler {
  /** Looks now, and then again and again. */
  start(): void;
  /** No further look; the one under way is given up. */
  stop(): void;
}

/** Asks for everything since the last look that ended well. A failed look is logged and tried again in its turn. */
export function createReconciler(options: {
  /** What it looks for, for the log, e.g. `payments`. */
  readonly what: string;
  /** From one look to the next; zero never looks. */
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
