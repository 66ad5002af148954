import { type Usd, usdFrom, usdText, ZERO_USD } from '../money.ts';
import { assertWindowCount, windowEnd } from './durations.ts';
import type { KeyBudgetWindow, SettingsPatch, WantedWindow } from './key-settings.ts';
import type { VirtualKey } from './virtual-key.ts';

/**
 * The wanted budget windows of a key whose total spend is `total`. When a present window (in `before`) has the same
 * duration, the wanted window keeps the end and the spend of the present one. Throws InvalidInput for a malformed
 * duration and for too many windows.
 */
export function keyWindowsOf(
  wanted: readonly WantedWindow[],
  { now, total, before }: { readonly now: Date; readonly total: Usd; readonly before: readonly KeyBudgetWindow[] },
): readonly KeyBudgetWindow[] {
  assertWindowCount(wanted);
  return wanted.map(({ budgetDuration, maxBudget }) => {
    const present = before.find((window) => window.budgetDuration === budgetDuration);
    if (present !== undefined) return { ...present, maxBudget };
    const resetAt = windowEnd(budgetDuration, now).toISOString();
    return { budgetDuration, maxBudget, resetAt, spentBefore: usdText(total) };
  });
}

const amountOf = (text: string): Usd => usdFrom(text) ?? ZERO_USD;

/** Budget of a window. */
export const windowBudget = ({ maxBudget }: KeyBudgetWindow): Usd => amountOf(maxBudget);

/** Total spend of the key at which the budget of a window is used up. */
export const windowLimit = ({ maxBudget, spentBefore }: KeyBudgetWindow): Usd =>
  (amountOf(maxBudget) + amountOf(spentBefore)) as Usd;

/** Throws InvalidInput for a budget of a model with a malformed period. */
export function assertPeriods({ modelMaxBudget }: SettingsPatch, now: Date): void {
  for (const { timePeriod } of Object.values(modelMaxBudget ?? {})) {
    // Only for its error.
    if (timePeriod !== null) windowEnd(timePeriod, now);
  }
}

/** The earliest end of the budget windows of a key; null when it has none. */
export function nextReset({ budgetResetAt, settings }: Pick<VirtualKey, 'budgetResetAt' | 'settings'>): Date | null {
  const ends = (settings.budgetLimits ?? []).map(({ resetAt }) => Date.parse(resetAt));
  if (budgetResetAt !== null) ends.push(budgetResetAt.getTime());
  return ends.length === 0 ? null : new Date(Math.min(...ends));
}

/** A key with its ended budget windows renewed. `total` is the key's total spend. */
export function withResets(key: VirtualKey, now: Date, total: Usd): VirtualKey {
  const windows = key.settings.budgetLimits?.map((window) =>
    Date.parse(window.resetAt) > now.getTime()
      ? window
      : { ...window, resetAt: windowEnd(window.budgetDuration, now).toISOString(), spentBefore: usdText(total) },
  );
  const settings = windows === undefined ? key.settings : { ...key.settings, budgetLimits: windows };
  const { budgetDuration, budgetResetAt } = key;
  if (budgetDuration === null || budgetResetAt === null || budgetResetAt > now) return { ...key, settings };
  return { ...key, settings, budgetResetAt: windowEnd(budgetDuration, now), spentBefore: total };
}

/** The budget of a key now, with its temporary increase unless the increase has expired. Null is unlimited. */
export function currentBudgetOf(
  { maxBudget, metadata }: Pick<VirtualKey, 'maxBudget' | 'metadata'>,
  now: Date,
): Usd | null {
  const { temp_budget_increase: increase, temp_budget_expiry: expiry } = metadata;
  if (maxBudget === null || typeof increase !== 'number' || typeof expiry !== 'string') return maxBudget;
  // False for a malformed expiry, whose time is NaN.
  const isIncreased = Date.parse(expiry) > now.getTime();
  return isIncreased ? ((maxBudget + (usdFrom(increase) ?? ZERO_USD)) as Usd) : maxBudget;
}
