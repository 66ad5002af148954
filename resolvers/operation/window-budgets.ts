import { type WindowScope, budgetWindowOf } from '../../src/domain/budgets/budget-window.ts';
import type { RouteBudget } from '../../src/domain/budgets/route-budget.ts';
import { type Usd, ZERO_USD } from '../../src/domain/money.ts';
import type { ProviderBudgetPlatform } from './platform.ts';

/** A budget of the configuration with the spend of its current window. */
export interface WindowBudget extends RouteBudget {
  /** Cost of the calls of the window. */
  readonly spent: Usd;
  /** End of the window; null for a budget that is never reset. */
  readonly resetAt: Date | null;
}

/** A budget and what it counts. */
interface CountedBudget {
  readonly scope: WindowScope;
  readonly ids: readonly string[];
  readonly budget: RouteBudget;
}

/** Budgets with the spend of their current windows, in the same order. One statement for any number. */
export async function windowBudgets(
  { stores, records, clock }: Pick<ProviderBudgetPlatform, 'clock' | 'records' | 'stores'>,
  counted: readonly CountedBudget[],
): Promise<readonly WindowBudget[]> {
  if (counted.length === 0) return [];
  const now = clock.now();
  const windows = counted.map(({ scope, ids, budget }) => ({
    budget,
    ...budgetWindowOf({ scope, ids, duration: budget.duration }, now),
  }));
  await records.spendStored();
  // Spend is counted under the name of its window.
  const totals = await stores.spend.totalsOfOwners(
    'window',
    windows.map(({ name }) => name),
  );
  return windows.map(({ budget, name, endMs }) => ({
    ...budget,
    spent: totals.get(name) ?? ZERO_USD,
    resetAt: endMs === 0 ? null : new Date(endMs),
  }));
}
