import type { Usd } from '../src/domain/money.ts';
import { sumOfSpend } from '../src/domain/spend/daily-activity.ts';
import { operation } from './operation/operation.ts';
import type { ProviderBudgetPlatform, SpendPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import { spendAdmin } from './operation/spend-access.ts';
import { type WindowBudget, windowBudgets } from './operation/window-budgets.ts';
import { type GroupingRequest, readGlobalSpend } from './spend.ts';

/** The budget of all calls with the spend of its current window; null without such a budget. */
export const getGlobalBudget = operation({
  name: 'getGlobalBudget',
  access: spendAdmin,
  async run({ platform }: Scope<ProviderBudgetPlatform>, _input: undefined): Promise<WindowBudget | null> {
    const budget = platform.globalBudget();
    if (budget === null) return null;
    const [current = null] = await windowBudgets(platform, [{ scope: 'global', ids: [], budget }]);
    return current;
  },
});

/**
 * The spend of all calls. With a global budget, it is the spend in the current window of that budget. When the request
 * names a period (`isDated`), or without a global budget, it is the sum of the calls that match `grouping`.
 */
export const getTotalSpend = operation({
  name: 'getTotalSpend',
  access: spendAdmin,
  async run(
    scope: Scope<ProviderBudgetPlatform & SpendPlatform>,
    { grouping, isDated }: { readonly grouping: GroupingRequest; readonly isDated: boolean },
  ): Promise<{ readonly spend: Usd; readonly budget: WindowBudget | null }> {
    const budget = await getGlobalBudget(scope, undefined);
    if (budget !== null && !isDated) return { spend: budget.spent, budget };
    const { groups } = await readGlobalSpend(scope, grouping);
    return { spend: sumOfSpend(groups).cost, budget };
  },
});
