import type { VirtualKey } from './virtual-key.ts';

/**
 * Reads a setting: the fraction of a key's limits that applies when its budget is used up, above 0 and at most 1. Null
 * for any other value.
 */
export function throttleFractionOf(value: unknown): number | null {
  const fraction = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof fraction === 'number' && fraction > 0 && fraction <= 1 ? fraction : null;
}

/**
 * The fraction of its limits that a key keeps when its budget is used up. Null for a key whose calls are refused
 * instead: it does not request throttling, it has no limit to lower, or no fraction is configured.
 */
export function throttleOf({ metadata, settings, owners }: VirtualKey, fraction: number | null): number | null {
  if (fraction === null || metadata['throttle_on_budget_exceeded'] !== true) return null;
  const requests = settings.rpmLimit ?? owners?.budget?.rpmLimit ?? null;
  const tokens = settings.tpmLimit ?? owners?.budget?.tpmLimit ?? null;
  return requests === null && tokens === null ? null : fraction;
}

/** A lowered limit. One call or token is always left, so that the key is not blocked. */
export const throttledLimit = (limit: number, fraction: number): number => Math.max(1, Math.floor(limit * fraction));

/** The key without its own budget and without the budget row that it names. Its budget windows stay. */
export const withoutBudget = (key: VirtualKey): VirtualKey => ({
  ...key,
  maxBudget: null,
  ...(key.owners === undefined ? {} : { owners: { ...key.owners, budget: null } }),
});
