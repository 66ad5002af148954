import type { Limits } from '../budgets/limits.ts';
import { windowEnd } from '../keys/durations.ts';
import type { Usd } from '../money.ts';

/** A user or a team, with the total spend of its keys at the start of its budget window. */
type Windowed = Pick<Limits, 'budgetDuration' | 'budgetResetAt'> & { readonly spentBefore: Usd | null };

/**
 * An owner with a new budget window in place of one that has ended; otherwise unchanged. `total` is the total spend of
 * its keys.
 */
export function withWindowReset<Owner extends Windowed>(owner: Owner, now: Date, total: Usd): Owner {
  const { budgetDuration, budgetResetAt } = owner;
  if (budgetDuration === null || budgetResetAt === null || budgetResetAt > now) return owner;
  return { ...owner, budgetResetAt: windowEnd(budgetDuration, now), spentBefore: total };
}

/** Budget windows of all users, teams and budgets. */
export interface OwnerWindowStore {
  /** Whether a window has ended by an instant; a cheap read. */
  anyEnded(now: Date): Promise<boolean>;
}
