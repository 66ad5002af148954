import { type Budget, type BudgetPatch, newBudget, patchedBudget } from '../../src/domain/budgets/budget.ts';
import { setsLimits } from '../../src/domain/budgets/limits.ts';
import { Conflict, InvalidInput } from '../../src/domain/errors.ts';
import { nullIfBlank } from '../../src/domain/optional-text.ts';
import { newStamps } from '../../src/domain/row-store.ts';
import { authored } from './authored.ts';
import type { BudgetPlatform } from './platform.ts';
import type { Scope } from './scope.ts';

/**
 * Requested budget of a row: the id of an existing budget, or limits. Limits change the row's budget, or create one.
 */
export interface WantedBudget {
  readonly budgetId: string | null;
  readonly limits: BudgetPatch;
}

/**
 * Creates or changes the budget of a row as requested, and returns its id. `current` is the id before. Throws
 * InvalidInput for an unknown budget, and for a request with both an id and limits.
 */
export async function saveBudget(
  scope: Scope<BudgetPlatform>,
  { budgetId, limits }: WantedBudget,
  current: string | null,
): Promise<string | null> {
  const { stores, ids } = scope.platform;
  const named = nullIfBlank(budgetId);
  const authorship = authored(scope);
  if (named !== null) {
    if (setsLimits(limits)) {
      const message = 'Value error, Set either budget_id or limits, not both.';
      throw new InvalidInput(message, [{ path: ['body'], rule: 'value_error', message }]);
    }
    const budget = await stores.budgets.find(named);
    if (budget === null) throw new InvalidInput(`Budget ${named} does not exist.`);
    return budget.id;
  }
  if (Object.keys(limits).length === 0) return current;
  const done =
    current === null ? null : await stores.budgets.change(current, (row) => patchedBudget(row, limits, authorship));
  if (done !== null) return current;
  // The row has no budget, or its budget was deleted.
  if (!setsLimits(limits)) return null;
  const budget = newBudget(limits, { ...authorship, id: ids.uuid() });
  await stores.budgets.add(budget);
  return budget.id;
}

/**
 * As `saveBudget`, for a caller that may not change budgets of other rows. A budget that the caller created is changed.
 * Another budget is copied, and the copy with the changes belongs to this row only.
 */
export async function saveOwnBudget(
  scope: Scope<BudgetPlatform>,
  limits: BudgetPatch,
  current: string | null,
): Promise<string | null> {
  if (current === null || Object.keys(limits).length === 0)
    return saveBudget(scope, { budgetId: null, limits }, current);
  const { stores, ids } = scope.platform;
  const authorship = authored(scope);
  const before = await stores.budgets.find(current);
  if (before === null || before.createdBy === authorship.by)
    return saveBudget(scope, { budgetId: null, limits }, current);
  const id = ids.uuid();
  const { createdAt, createdBy } = newStamps(authorship);
  await stores.budgets.add({ ...patchedBudget(before, limits, authorship), id, createdAt, createdBy });
  return id;
}

/** Ids of the budgets that a save for a new row created: the saved budget, unless the request named an existing one. */
export const createdBudgets = ({ budgetId }: WantedBudget, savedId: string | null): readonly string[] =>
  savedId === null || nullIfBlank(budgetId) !== null ? [] : [savedId];

/**
 * Adds rows that refer to the new budgets `budgetIds`. Throws what `add` throws. After a Conflict no row refers to the
 * budgets, so they are removed. After any other error the rows may be stored, so the budgets stay.
 */
export async function addWithBudgets(
  { platform }: Scope<BudgetPlatform>,
  budgetIds: readonly string[],
  add: () => Promise<void>,
): Promise<void> {
  try {
    await add();
  } catch (error) {
    // A budget that cannot be removed has no effect, and the caller needs the first error.
    if (budgetIds.length > 0 && error instanceof Conflict)
      await platform.stores.budgets.remove(budgetIds).catch(() => {});
    throw error;
  }
}

/** The budgets of rows, by id, in one statement. */
export async function budgetsOf(
  { platform }: Scope<BudgetPlatform>,
  rows: readonly { readonly budgetId: string | null }[],
): Promise<ReadonlyMap<string, Budget>> {
  const ids = rows.flatMap(({ budgetId }) => budgetId ?? []);
  const budgets = ids.length === 0 ? [] : await platform.stores.budgets.findMany(ids);
  return new Map(budgets.map((budget) => [budget.id, budget]));
}
