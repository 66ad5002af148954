import type { Clock } from '../../domain/clock.ts';
import { pause } from '../clock.ts';
import type { Log } from '../telemetry/log.ts';

const DAY_MS = 86_400_000;
/** Default number of records of a step. */
const STEP_RECORDS = 100;
/** Pause between two steps, in ms. */
const PAUSE_MS = 100;

/** One round of retention. */
interface RetentionRound {
  /** Name of the removed records for the log, e.g. `traces`. */
  readonly what: string;
  /** Age in days, counted from its start, at which a record is removed. */
  readonly days: number;
  /** Maximum number of records of one step. */
  readonly stepSize?: number;
  /** Removes at most `max` records that started before `beforeMs` (Unix ms); resolves to their number. */
  readonly remove: (beforeMs: number, max: number) => Promise<number>;
  readonly clock: Clock;
  readonly log: Pick<Log, 'info'>;
  readonly signal: AbortSignal;
}

/**
 * Removes old records in small steps until none is left. Rejects when a step fails. When the signal fires, rejects
 * with its reason before the next step.
 */
export async function removeOld({
  what,
  days,
  stepSize = STEP_RECORDS,
  remove,
  clock,
  log,
  signal,
}: RetentionRound): Promise<void> {
  let removed = 0;
  for (;;) {
    const count = await remove(clock.now().getTime() - days * DAY_MS, stepSize);
    removed += count;
    if (count < stepSize) break;
    await pause(PAUSE_MS, signal);
  }
  if (removed > 0) log.info({ [what]: removed, days }, `old ${what} were removed`);
}
