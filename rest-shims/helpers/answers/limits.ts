import type { Budget } from '../../../src/domain/budgets/budget.ts';
import type { Limits } from '../../../src/domain/budgets/limits.ts';
import { type Usd, usdNumber } from '../../../src/domain/money.ts';
import type { WantedWindow } from '../../../src/domain/keys/key-settings.ts';

/** Relations of a budget that the reference has and that are not listed here. */
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

export const isoOf = (time: Date | null): string | null => time?.toISOString() ?? null;
export const usdOf = (amount: Usd | null): number | null => (amount === null ? null : usdNumber(amount));

/** Limits as the members of a row. */
export const renderLimits = (row: Limits) => ({
  max_budget: usdOf(row.maxBudget),
  tpm_limit: row.tpmLimit,
  rpm_limit: row.rpmLimit,
  budget_duration: row.budgetDuration,
  budget_reset_at: isoOf(row.budgetResetAt),
  max_parallel_requests: row.maxParallelRequests,
});

const budgetColumns = (budget: Budget) => ({
  budget_id: budget.id,
  soft_budget: usdOf(budget.softBudget),
  ...renderLimits(budget),
  tpd_limit: budget.tpdLimit,
  model_max_budget: budget.modelMaxBudget,
  allowed_models: budget.allowedModels,
  temp_budget_increase: usdOf(budget.tempBudgetIncrease),
  temp_budget_expiry: isoOf(budget.tempBudgetExpiry),
  created_at: budget.createdAt.toISOString(),
});

/** A budget within another row; null for none. */
export const renderBudgetTable = (budget: Budget | null) => (budget === null ? null : budgetColumns(budget));

/** A budget with its author and with what refers to it, which is not listed. */
export const renderBudget = (budget: Budget) => ({
  ...budgetColumns(budget),
  created_by: budget.createdBy,
  updated_at: budget.updatedAt.toISOString(),
  updated_by: budget.updatedBy,
  ...NO_RELATIONS,
});

/** A budget of a window of a row, with the end of its current window. */
export const renderWindow = ({ budgetDuration, maxBudget, resetAt }: WantedWindow & { readonly resetAt: string }) => ({
  budget_duration: budgetDuration,
  max_budget: Number(maxBudget),
  reset_at: resetAt,
});
