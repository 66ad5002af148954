import { windowOf } from '../src/domain/budgets/budget-window.ts';
import type { RouteBudget } from '../src/domain/budgets/route-budget.ts';
import { type Usd, ZERO_USD } from '../src/domain/money.ts';
import { operation } from './operation/operation.ts';
import type { ProviderBudgetPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import { spendAdmin } from './operation/spend-access.ts';

/** The budget of a provider in its current window. */
export interface ProviderBudget extends RouteBudget {
  readonly provider: string;
  /** What the calls of the window cost. */
  readonly spent: Usd;
  /** End of the window; null for a budget that is never reset. */
  readonly resetAt: Date | null;
}

/** The budgets of providers, in the order of the configuration. */
export const listProviderBudgets = operation({
  name: 'listProviderBudgets',
  access: spendAdmin,
  async run({ platform }: Scope<ProviderBudgetPlatform>, _input: undefined): Promise<readonly ProviderBudget[]> {
    const { stores, records, clock, providerBudgets } = platform;
    const budgets = [...providerBudgets()];
    if (budgets.length === 0) return [];
    const now = clock.now();
    const windows = budgets.map(([provider, { duration }]) =>
      windowOf({ scope: 'provider', ids: [provider], duration }, now),
    );
    await records.readable();
    const totals = await stores.spend.totalsOfOwners(
      'window',
      windows.map(({ name }) => name),
    );
    return budgets.map(([provider, budget], at) => {
      const { name = '', endMs = 0 } = windows[at] ?? {};
      const resetAt = endMs === 0 ? null : new Date(endMs);
      return { ...budget, provider, spent: totals.get(name) ?? ZERO_USD, resetAt };
    });
  },
});
