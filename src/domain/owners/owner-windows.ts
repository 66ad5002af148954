import type { Limits } from '../budgets/limits.ts';
import { windowEnd } from '../keys/durations.ts';
import type { Usd } from '../money.ts';

/** A user or a team, with what its keys had spent in all at the start of its budget window. */
type Windowed = Pick<Limits, 'budgetDuration' | 'budgetResetAt'> & { readonly spentBefore: Usd | null };

/** An owner whose ended budget window has begun anew. `total` is what its keys have spent in all. */
export function withWindowReset<Owner extends Windowed>(owner: Owner, now: Date, total: Usd): Owner {
  const { budgetDuration, budgetResetAt } = owner;
  if (budgetDuration === null || budgetResetAt === null || budgetResetAt > now) return owner;
  return { ...owner, budgetResetAt: windowEnd(budgetDuration, now), spentBefore: total };
}
