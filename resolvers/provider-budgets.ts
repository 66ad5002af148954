import { operation } from './operation/operation.ts';
import type { ProviderBudgetPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import { spendAdmin } from './operation/spend-access.ts';
import { type WindowBudget, windowBudgets } from './operation/window-budgets.ts';

/** The budget of a provider in its current window. */
export interface ProviderBudget extends WindowBudget {
  readonly provider: string;
}

/** The budgets of providers, in the order of the configuration. */
export const listProviderBudgets = operation({
  name: 'listProviderBudgets',
  access: spendAdmin,
  async run({ platform }: Scope<ProviderBudgetPlatform>, _input: undefined): Promise<readonly ProviderBudget[]> {
    const configured = [...platform.providerBudgets()];
    const budgets = await windowBudgets(
      platform,
      configured.map(([provider, budget]) => ({ scope: 'provider', ids: [provider], budget })),
    );
    return budgets.map((budget, index) => ({ ...budget, provider: configured[index]?.[0] ?? '' }));
  },
});
