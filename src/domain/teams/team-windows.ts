import { currentWindowStart } from '../budgets/limits.ts';
import type { WantedWindow } from '../keys/key-settings.ts';
import { assertWindowCount, windowEnd } from '../keys/durations.ts';
import { type Usd, usdFrom, ZERO_USD } from '../money.ts';

/**
 * A budget of a team with its own window, in addition to the budget of the team. It is stored as JSON, so that its
 * times are ISO 8601 texts.
 */
export interface TeamWindow extends WantedWindow {
  /** End of its first window. */
  readonly resetAt: string;
  /** Time from which spend counts in its first window. */
  readonly countsFrom: string;
}

/**
 * The windows of a team; null for none. A wanted window keeps the times of a present one with the same duration.
 * Throws InvalidInput for a malformed duration and for too many windows.
 */
export function teamWindowsOf(
  wanted: readonly WantedWindow[] | null,
  before: readonly TeamWindow[] | null,
  now: Date,
): readonly TeamWindow[] | null {
  if (wanted === null || wanted.length === 0) return null;
  assertWindowCount(wanted);
  return wanted.map(({ budgetDuration, maxBudget }) => {
    const existing = before?.find((window) => window.budgetDuration === budgetDuration);
    if (existing !== undefined) return { ...existing, maxBudget };
    const resetAt = windowEnd(budgetDuration, now).toISOString();
    return { budgetDuration, maxBudget, resetAt, countsFrom: now.toISOString() };
  });
}

const timesOf = ({ budgetDuration, resetAt, countsFrom }: TeamWindow) => ({
  budgetDuration,
  budgetResetAt: new Date(resetAt),
  countsFrom: new Date(countsFrom),
});

/** The current window of a further budget of a team. */
export interface CurrentTeamWindow {
  readonly duration: string;
  readonly budget: Usd;
  /** Time from which spend counts in it. */
  readonly start: Date;
  readonly resetAt: Date;
}

/** The window that `now` is in. */
export function currentTeamWindow(window: TeamWindow, now: Date): CurrentTeamWindow {
  const times = timesOf(window);
  const { budgetDuration: duration, budgetResetAt, countsFrom } = times;
  // Null in the first window, whose start and end are stored.
  const start = currentWindowStart(times, now);
  return {
    duration,
    budget: usdFrom(window.maxBudget) ?? ZERO_USD,
    start: start ?? countsFrom,
    resetAt: start === null ? budgetResetAt : windowEnd(duration, start),
  };
}
