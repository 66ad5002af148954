import type { Clock } from '../../domain/clock.ts';

/** Period of the runs before the first success, in ms: longer than a payment provider retries a webhook. */
const FIRST_PERIOD_MS = 7 * 86_400_000;
/** Overlap of periods, in ms, because the provider's clock and lists may be behind. */
const OVERLAP_MS = 600_000;

/**
 * Returns a task that calls `work` with the start of its last successful run, less an overlap. Before the first
 * success, `since` is a week before this call.
 */
export function sinceLastSuccess(
  clock: Clock,
  work: (since: Date, signal: AbortSignal) => Promise<void>,
): (signal: AbortSignal) => Promise<void> {
  let since = new Date(clock.now().getTime() - FIRST_PERIOD_MS);
  return async (signal) => {
    const startMs = clock.now().getTime();
    await work(since, signal);
    since = new Date(startMs - OVERLAP_MS);
  };
}
