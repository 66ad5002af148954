import type { JsonObject } from '../json-object.ts';
import { windowEnd } from '../keys/durations.ts';
import { type Authored, newStamps, type RowStore, type Stamps } from '../row-store.ts';
import type { Usd } from '../money.ts';
import {
  assertAmount,
  assertStorable,
  currentWindowStart,
  type Limits,
  type LimitsPatch,
  NO_LIMITS,
  withLimits,
} from './limits.ts';

/** Limits under an id that keys, members, customers, organizations, projects and tags refer to. */
export interface Budget extends Limits, Stamps {
  readonly id: string;
  readonly modelMaxBudget: JsonObject | null;
  /** Models that a team member with this budget may call; empty is every model. */
  readonly allowedModels: readonly string[];
  /**
   * Time from which spend counts in the window that ends at `budgetResetAt`; null in the first window, where all spend
   * counts.
   */
  readonly countsFrom: Date | null;
  /** Amount that is added to the budget until `tempBudgetExpiry`; null for none. */
  readonly tempBudgetIncrease: Usd | null;
  readonly tempBudgetExpiry: Date | null;
}

export interface BudgetPatch extends LimitsPatch {
  readonly modelMaxBudget?: JsonObject | null;
  readonly allowedModels?: readonly string[];
  readonly tempBudgetIncrease?: Usd | null;
  readonly tempBudgetExpiry?: Date | null;
}

/** Filter of a list of budgets. All conditions that are neither null nor absent must match. */
export interface BudgetFilter {
  readonly ids: readonly string[] | null;
  /** Text that the id contains, ignoring letter case. */
  readonly idPart?: string | null;
  /** Selects the budgets whose window ends at this time or earlier. */
  readonly resetDueBy?: Date;
}

export type BudgetSort = 'created_at' | 'budget_id';

export type BudgetStore = RowStore<Budget, BudgetFilter, BudgetSort>;

/** A new budget. Throws InvalidInput. */
export function newBudget(patch: BudgetPatch, about: Authored & { readonly id: string }): Budget {
  assertStorable({ budget_id: about.id });
  assertAmount('temp_budget_increase', patch.tempBudgetIncrease);
  return {
    id: about.id,
    modelMaxBudget: patch.modelMaxBudget ?? null,
    allowedModels: patch.allowedModels ?? [],
    countsFrom: null,
    tempBudgetIncrease: patch.tempBudgetIncrease ?? null,
    tempBudgetExpiry: patch.tempBudgetExpiry ?? null,
    ...withLimits(NO_LIMITS, patch, about.now),
    ...newStamps(about),
  };
}

/** A budget with a patch applied. Throws InvalidInput. */
export function patchedBudget(budget: Budget, patch: BudgetPatch, { now, by }: Authored): Budget {
  assertAmount('temp_budget_increase', patch.tempBudgetIncrease);
  return {
    ...budget,
    ...withLimits(budget, patch, now),
    // The spend of the current window still counts after a change of the duration.
    ...(patch.budgetDuration === undefined ? {} : { countsFrom: countStart(budget, now) }),
    ...(patch.modelMaxBudget === undefined ? {} : { modelMaxBudget: patch.modelMaxBudget }),
    ...(patch.allowedModels === undefined ? {} : { allowedModels: patch.allowedModels }),
    ...(patch.tempBudgetIncrease === undefined ? {} : { tempBudgetIncrease: patch.tempBudgetIncrease }),
    ...(patch.tempBudgetExpiry === undefined ? {} : { tempBudgetExpiry: patch.tempBudgetExpiry }),
    updatedAt: now,
    updatedBy: by,
  };
}

/** The time from which spend counts in the current window; null where all spend counts. */
export const countStart = (
  budget: Pick<Budget, 'budgetDuration' | 'budgetResetAt' | 'countsFrom'>,
  now: Date,
): Date | null => currentWindowStart(budget, now) ?? budget.countsFrom;

/** A budget with `countsFrom` and `budgetResetAt` of the current window. */
export function withCurrentWindow(budget: Budget, now: Date): Budget {
  const start = currentWindowStart(budget, now);
  if (start === null || budget.budgetDuration === null) return budget;
  return { ...budget, countsFrom: start, budgetResetAt: windowEnd(budget.budgetDuration, start) };
}

/**
 * A budget whose limit includes the temporary increase, until the increase expires. A budget without a limit stays
 * unlimited.
 */
export function withTemporaryIncrease(budget: Budget, now: Date): Budget {
  const { maxBudget, tempBudgetIncrease: increase, tempBudgetExpiry: expiry } = budget;
  if (maxBudget === null || increase === null || expiry === null || expiry <= now) return budget;
  return { ...budget, maxBudget: (maxBudget + increase) as Usd };
}

/**
 * A budget for one row that used a shared budget: the limits and the window of the shared one, changed by a patch.
 * Throws InvalidInput.
 */
export const copyOfSharedBudget = (
  shared: Budget,
  patch: BudgetPatch,
  about: Authored & { readonly id: string },
): Budget => patchedBudget({ ...shared, ...newStamps(about), id: about.id }, patch, about);
