import { type Budget, type BudgetPatch, newBudget, patchedBudget } from '../../src/domain/budgets/budget.ts';
import { setsLimits } from '../../src/domain/budgets/limits.ts';
import { Conflict, DomainError, InvalidInput, Unavailable } from '../../src/domain/errors.ts';
import { nullIfBlank } from '../../src/domain/optional-text.ts';
import { type ChangedRow, newStamps, type RowStore } from '../../src/domain/row-store.ts';
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
    if (budget === null) throw new InvalidInput(`Budget ${named} does not exist.`, [], { field: 'budget_id' });
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

/** Removes new budgets to which no row refers. A budget that cannot be removed has no effect. */
const removeUnused = async ({ stores }: BudgetPlatform, budgetIds: readonly string[]): Promise<unknown> =>
  budgetIds.length === 0 ? [] : stores.budgets.remove(budgetIds).catch(() => []);

/**
 * Adds rows that refer to the new budgets `budgetIds`. Throws what `add` throws. After a Conflict no row refers to the
 * budgets, so they are removed. After any other error the rows are possibly stored, so the budgets are kept.
 */
export async function addWithBudgets(
  { platform }: Scope<BudgetPlatform>,
  budgetIds: readonly string[],
  add: () => Promise<void>,
): Promise<void> {
  try {
    await add();
  } catch (error) {
    if (error instanceof Conflict) await removeUnused(platform, budgetIds);
    throw error;
  }
}

/** Number of times that a row and its budget are changed again when another request has replaced the budget. */
const ATTEMPTS = 5;

/** Another request has replaced the budget of the row since it was read. */
class BudgetReplaced extends Conflict {}

/** A change of a row and of the budget that it refers to. */
export interface BudgetedChange<Row> {
  readonly wanted: WantedBudget;
  readonly budgetOf: (row: Row) => string | null;
  /** Saves the wanted budget of a row. `current` is the budget of the row before. By default `saveBudget`. */
  readonly save?: (current: string | null) => Promise<string | null>;
  readonly change: (row: Row, budgetId: string | null) => Row;
}

/**
 * Changes a row and its budget. Returns null when the row does not exist. When another request has replaced the budget
 * of the row, the change is repeated. A new budget is removed when the row does not refer to it. After an Unavailable
 * and after an unknown error the row is possibly stored, so the budget is kept. Throws what `save`, `change` and the
 * store throw.
 */
export async function changeWithBudget<Row extends { readonly id: string }>(
  scope: Scope<BudgetPlatform>,
  store: Pick<RowStore<Row, never>, 'find' | 'change'>,
  found: Row,
  { wanted, budgetOf, save = (current) => saveBudget(scope, wanted, current), change }: BudgetedChange<Row>,
): Promise<ChangedRow<Row> | null> {
  const { platform } = scope;
  let row: Row | null = found;
  for (let attempt = 0; attempt < ATTEMPTS && row !== null; attempt += 1) {
    const current = budgetOf(row);
    const budgetId = await save(current);
    const created = budgetId === current ? [] : createdBudgets(wanted, budgetId);
    try {
      const done = await store.change(row.id, (stored) => {
        if (budgetOf(stored) !== current) throw new BudgetReplaced('The budget is being changed by another request.');
        return change(stored, budgetId);
      });
      if (done === null) await removeUnused(platform, created);
      return done;
    } catch (error) {
      if (error instanceof DomainError && !(error instanceof Unavailable)) await removeUnused(platform, created);
      if (!(error instanceof BudgetReplaced)) throw error;
    }
    row = await store.find(row.id);
  }
  if (row === null) return null;
  throw new Unavailable('The budget is being changed by other requests. Try again.');
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
