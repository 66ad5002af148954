import type { Clock } from '../../domain/clock.ts';
import type { Log } from '../telemetry/log.ts';

const DAY_MS = 86_400_000;
/** Interval of rounds, in ms. */
const ROUND_MS = 600_000;
/** Default size of a step, and the pause after it, in ms. */
const STEP = 100;
const PAUSE_MS = 100;

/** Periodically removes old records. */
export interface Retention {
  start(): void;
  /** Starts no further step; resolves when the running one has ended. */
  stop(): Promise<void>;
}

/** Each round removes records in small steps until no old one is left. A failed step ends its round. */
export function createRetention({
  what,
  days,
  stepSize = STEP,
  forget,
  clock,
  log,
}: {
  /** Name of the removed records for the log, e.g. `traces`. */
  readonly what: string;
  /** Age in days at which a record is removed, by its start; zero keeps everything. */
  readonly days: number;
  /** Most records of one step. */
  readonly stepSize?: number;
  /** Removes at most `most` records that started before `beforeMs` (Unix ms); resolves to their number. */
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
