import type { Clock } from '../../domain/clock.ts';
import type { Log } from '../telemetry/log.ts';

const DAY_MS = 86_400_000;
/** From one round to the next. */
const ROUND_MS = 600_000;
/** How much goes in one step where nobody says otherwise, and the pause after it in which others are served. */
const STEP = 100;
const PAUSE_MS = 100;

/** Removes what is old enough, again and again. */
export interface Retention {
  start(): void;
  /** No further step; resolves when the one under way is done. */
  stop(): Promise<void>;
}

/**
 * Each round goes on in small steps until nothing old is left. A step that fails ends its round; the next tries again.
 */
export function createRetention({
  what,
  days,
  stepSize = STEP,
  forget,
  clock,
  log,
}: {
  /** What it removes, for the log, e.g. `traces`. */
  readonly what: string;
  /** Age at which something goes, by its beginning; zero keeps everything. */
  readonly days: number;
  /** How much goes in one step. */
  readonly stepSize?: number;
  /** Removes at most so many that began before, Unix milliseconds; resolves to how many. */
  readonly forget: (beforeMs: number, most: number) => Promise<number>;
  readonly clock: Clock;
  readonly log: Log;
}): Retention {
  let stopped = days === 0;
  let timer: NodeJS.Timeout | undefined;
  let step: Promise<void> = Promise.resolve();
  let removed = 0;

  function next(delayMs: number): void {
    if (stopped) return;
    timer = setTimeout(() => {
      step = work();
    }, delayMs);
    timer.unref();
  }

  async function work(): Promise<void> {
    try {
      const count = await forget(clock.now().getTime() - days * DAY_MS, stepSize);
      removed += count;
      if (count === stepSize) return next(PAUSE_MS);
      if (removed > 0) log.info({ [what]: removed, days }, `old ${what} were removed`);
    } catch (error) {
      log.warn({ err: error }, `old ${what} could not be removed; trying again`);
    }
    removed = 0;
    next(ROUND_MS);
  }

  return {
    start: () => next(PAUSE_MS),
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await step;
    },
  };
}
