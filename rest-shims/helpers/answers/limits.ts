import type { Budget } from '../../../src/domain/budgets/budget.ts';
import type { Limits } from '../../../src/domain/budgets/limits.ts';
import { type Usd, usdNumber } from '../../../src/domain/money.ts';
import type { WantedWindow } from '../../../src/domain/keys/key-settings.ts';

/** Relations in a budget row of the reference. They are always null here. */
export const NO_RELATIONS = {
  organization: null,
  projects: null,
  keys: null,
  end_users: null,
  tags: null,
  model_access_groups: null,
  team_membership: null,
  organization_membership: null,
} as const;

export const isoOrNull = (time: Date | null): string | null => time?.toISOString() ?? null;
export const usdOrNull = (amount: Usd | null): number | null => (amount === null ? null : usdNumber(amount));

export const renderLimits = (row: Limits) => ({
  max_budget: usdOrNull(row.maxBudget),
  tpm_limit: row.tpmLimit,
  rpm_limit: row.rpmLimit,
  budget_duration: row.budgetDuration,
  budget_reset_at: isoOrNull(row.budgetResetAt),
  max_parallel_requests: row.maxParallelRequests,
});

const budgetColumns = (budget: Budget) => ({
  budget_id: budget.id,
  soft_budget: usdOrNull(budget.softBudget),
  ...renderLimits(budget),
  tpd_limit: budget.tpdLimit,
  model_max_budget: budget.modelMaxBudget,
  allowed_models: budget.allowedModels,
  temp_budget_increase: usdOrNull(budget.tempBudgetIncrease),
  temp_budget_expiry: isoOrNull(budget.tempBudgetExpiry),
  created_at: budget.createdAt.toISOString(),
});

/** The budget to which another row refers, without author, update and relations; null without a budget. */
export const renderBudgetTable = (budget: Budget | null) => (budget === null ? null : budgetColumns(budget));

/** A budget with its author. Its relations are null. */
export const renderBudget = (budget: Budget) => ({
  ...budgetColumns(budget),
  created_by: budget.createdBy,
  updated_at: budget.updatedAt.toISOString(),
  updated_by: budget.updatedBy,
  ...NO_RELATIONS,
});

/** A budget window. `reset_at` is its end. For a key, `reset_at` may be in the past until the window is renewed. */
export const renderWindow = ({ budgetDuration, maxBudget, resetAt }: WantedWindow & { readonly resetAt: string }) => ({
  budget_duration: budgetDuration,
  max_budget: Number(maxBudget),
  reset_at: resetAt,
});
