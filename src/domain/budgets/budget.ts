import { idOrNull } from '../optional-id.ts';
import { type Authored, newStamps, type RowStore, type Stamps } from '../row-store.ts';
import { assertStorable, type Limits, type LimitsPatch, NO_LIMITS, withLimits } from './limits.ts';

/** Limits under an id that keys, members, customers, organizations, projects and tags refer to. */
export interface Budget extends Limits, Stamps {
  readonly id: string;
  readonly modelMaxBudget: Readonly<Record<string, unknown>> | null;
  /** Models that a member with this budget may call; empty is every model. */
  readonly allowedModels: readonly string[];
}

export interface BudgetPatch extends LimitsPatch {
  readonly modelMaxBudget?: Readonly<Record<string, unknown>> | null;
  readonly allowedModels?: readonly string[];
}

/** Filter of a list of budgets. All conditions that are neither null nor absent must match. */
export interface BudgetFilter {
  readonly ids: readonly string[] | null;
  /** Text that the id contains, in any case. */
  readonly idPart?: string | null;
}

export type BudgetSort = 'created_at' | 'budget_id';

export type BudgetStore = RowStore<Budget, BudgetFilter, BudgetSort>;

/** A new budget. Throws InvalidInput. */
export function newBudget(patch: BudgetPatch, about: Authored & { readonly id: string }): Budget {
  assertStorable({ budget_id: about.id });
  return {
    id: idOrNull(about.id) ?? '',
    modelMaxBudget: patch.modelMaxBudget ?? null,
    allowedModels: patch.allowedModels ?? [],
    ...withLimits(NO_LIMITS, patch, about.now),
    ...newStamps(about),
  };
}

/** A budget with a patch applied. Throws InvalidInput. */
export function patchedBudget(budget: Budget, patch: BudgetPatch, { now, by }: Authored): Budget {
  return {
    ...budget,
    ...withLimits(budget, patch, now),
    ...(patch.modelMaxBudget === undefined ? {} : { modelMaxBudget: patch.modelMaxBudget }),
    ...(patch.allowedModels === undefined ? {} : { allowedModels: patch.allowedModels }),
    updatedAt: now,
    updatedBy: by,
  };
}
