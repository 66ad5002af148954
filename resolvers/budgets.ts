import { type Budget, type BudgetPatch, newBudget, patchedBudget } from '../src/domain/budgets/budget.ts';
import { nullIfBlank } from '../src/domain/optional-text.ts';
import { tenantAdmin, tenantViewer } from './operation/access.ts';
import { authored } from './operation/authored.ts';
import { operation } from './operation/operation.ts';
import type { BudgetPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';

/** Creates a budget. Throws Conflict when the id is taken, and InvalidInput. */
export const createBudget = operation({
  name: 'createBudget',
  access: tenantAdmin,
  async run(
    scope: Scope<BudgetPlatform>,
    { id, patch }: { readonly id: string | null; readonly patch: BudgetPatch },
  ): Promise<Budget> {
    const { stores, ids } = scope.platform;
    const budget = newBudget(patch, { ...authored(scope), id: nullIfBlank(id) ?? ids.uuid() });
    await stores.budgets.add(budget);
    return budget;
  },
});

/** Reads the budgets with these ids; unknown ids are ignored. */
export const getBudgets = operation({
  name: 'getBudgets',
  access: tenantViewer,
  run: (scope: Scope<BudgetPlatform>, ids: readonly string[]): Promise<readonly Budget[]> =>
    scope.platform.stores.budgets.findMany(ids),
});

/** Lists all budgets, the oldest first. */
export const listBudgets = operation({
  name: 'listBudgets',
  access: tenantViewer,
  run: (scope: Scope<BudgetPlatform>): Promise<readonly Budget[]> => scope.platform.stores.budgets.all({ ids: null }),
});

/** One page of the budgets, the oldest first. */
export const listBudgetPage = operation({
  name: 'listBudgetPage',
  access: tenantViewer,
  async run(
    { platform }: Scope<BudgetPlatform>,
    page: { readonly limit: number; readonly from: number },
  ): Promise<{ readonly budgets: readonly Budget[]; readonly totalCount: number }> {
    const { budgets } = platform.stores;
    const [found, totalCount] = await Promise.all([
      budgets.list({ filter: { ids: null }, sort: 'created_at', descending: false, ...page }),
      budgets.count({ ids: null }),
    ]);
    return { budgets: found, totalCount };
  },
});

/** Changes a budget; null when it does not exist. Throws InvalidInput. */
export const updateBudget = operation({
  name: 'updateBudget',
  access: tenantAdmin,
  async run(
    scope: Scope<BudgetPlatform>,
    { id, patch }: { readonly id: string; readonly patch: BudgetPatch },
  ): Promise<Budget | null> {
    const authorship = authored(scope);
    const done = await scope.platform.stores.budgets.change(id, (budget) => patchedBudget(budget, patch, authorship));
    return done?.after ?? null;
  },
});

/** Deletes a budget; null when it does not exist. Its limits no longer apply to the rows that refer to it. */
export const deleteBudget = operation({
  name: 'deleteBudget',
  access: tenantAdmin,
  async run(scope: Scope<BudgetPlatform>, { id }: { readonly id: string }): Promise<Budget | null> {
    return (await scope.platform.stores.budgets.remove([id]))[0] ?? null;
  },
});
