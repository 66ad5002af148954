import type { CallStore } from '../../domain/calls/call-record.ts';
import type { Log } from '../telemetry/log.ts';

/** Calls that may wait: whoever reads next waits for about a second when it is as many. */
const MOST_WAITING = 65_536;
/** A commit of fewer is one of a calm process, which has time to unfold what it has committed. */
const CALM_CALLS = 400;
/** After this long without a busy commit the load is over. */
const QUIET_MS = 1_000;
const RETRY_MS = 5_000;

/** Unfolds calls that are committed, while the process has nothing better to do. */
export interface Unfolding {
  /** To be told after each commit; resolves at once unless too many wait already. */
  committed(calls: number): Promise<void>;
  /** Begins with what an earlier process has left. */
  start(): void;
  /** No further step; resolves when the one under way is done. What waits is unfolded by the next start. */
  stop(): Promise<void>;
}

export function createUnfolding({
  store,
  log,
}: {
  readonly store: Pick<CallStore, 'backlog' | 'unfold'>;
  readonly log: Pick<Log, 'warn'>;
}): Unfolding {
  let stopped = false;
  let busy = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | null = null;

  function later(delayMs: number): void {
    clearTimeout(timer);
    if (stopped) return;
    timer = setTimeout(begin, delayMs);
    timer.unref();
  }

  /** Goes on in steps until nothing waits or a busy commit comes. */
  function begin(): void {
    if (stopped) return;
    busy = false;
    running ??= goOn().finally(() => {
      running = null;
    });
  }

  async function goOn(): Promise<void> {
    try {
      do await store.unfold();
      while (store.backlog() > 0 && !busy && !stopped);
    } catch (error) {
      log.warn({ err: error, waiting: store.backlog() }, 'calls could not be unfolded; trying again');
      later(RETRY_MS);
    }
  }

  return {
    async committed(calls) {
      if (calls < CALM_CALLS) return begin();
      busy = true;
      later(QUIET_MS);
      // The one who commits pays, so that no more can come than goes.
      while (store.backlog() > MOST_WAITING && !stopped) await store.unfold();
    },
    start: begin,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
