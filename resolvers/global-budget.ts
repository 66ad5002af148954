import { windowOf } from '../src/domain/budgets/budget-window.ts';
import type { RouteBudget } from '../src/domain/budgets/route-budget.ts';
import { type Usd, ZERO_USD } from '../src/domain/money.ts';
import { sumOf } from '../src/domain/spend/daily-activity.ts';
import { operation } from './operation/operation.ts';
import type { ProviderBudgetPlatform, SpendPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import { spendAdmin } from './operation/spend-access.ts';
import { type GroupingRequest, readGlobalSpend } from './spend.ts';

/** The budget of all calls in its current window. */
export interface GlobalBudget extends RouteBudget {
  /** What the calls of the window cost. */
  readonly spent: Usd;
  /** End of the window; null for a budget that is never reset. */
  readonly resetAt: Date | null;
}

/** The budget of all calls; null for none. */
export const getGlobalBudget = operation({
  name: 'getGlobalBudget',
  access: spendAdmin,
  async run({ platform }: Scope<ProviderBudgetPlatform>, _input: undefined): Promise<GlobalBudget | null> {
    const { stores, records, clock } = platform;
    const budget = platform.globalBudget();
    if (budget === null) return null;
    const { name, endMs } = windowOf({ scope: 'global', ids: [], duration: budget.duration }, clock.now());
    await records.readable();
    const totals = await stores.spend.totalsOfOwners('window', [name]);
    return { ...budget, spent: totals.get(name) ?? ZERO_USD, resetAt: endMs === 0 ? null : new Date(endMs) };
  },
});

/** The spend of all calls: of a period, else of the current window of their budget, else of the last 30 days. */
export const getTotalSpend = operation({
  name: 'getTotalSpend',
  access: spendAdmin,
  async run(
    scope: Scope<ProviderBudgetPlatform & SpendPlatform>,
    { grouping, isDated }: { readonly grouping: GroupingRequest; readonly isDated: boolean },
  ): Promise<{ readonly spend: Usd; readonly budget: GlobalBudget | null }> {
    const budget = await getGlobalBudget(scope, undefined);
    if (budget !== null && !isDated) return { spend: budget.spent, budget };
    const { groups } = await readGlobalSpend(scope, grouping);
    return { spend: sumOf(groups).cost, budget };
  },
});
