import { type JsonObject, isJsonObject } from '../json-object.ts';
import { InvalidInput } from '../errors.ts';
import { windowEnd } from '../keys/durations.ts';
import { type Usd, usdFrom, ZERO_USD } from '../money.ts';

/** A budget of a provider or a deployment, of one model, or of all calls. */
export interface RouteBudget {
  /** Null refuses nothing. */
  readonly limit: Usd | null;
  /** Reset interval of the spend, such as `1d`; null for never. */
  readonly duration: string | null;
}

/** Budgets by provider. */
export type ProviderBudgets = ReadonlyMap<string, RouteBudget>;

export const NO_PROVIDER_BUDGETS: ProviderBudgets = new Map();

/** The first of the named members that is neither absent nor null. */
const firstMemberOf = (value: object, ...names: readonly string[]): unknown => {
  const members: JsonObject = { ...value };
  return names.map((name) => members[name]).find((member) => member !== undefined && member !== null);
};

/**
 * A budget by the reference's names: `budget_limit` and `time_period`, or `max_budget` and `budget_duration`. Null for
 * a value that is not an object. A malformed amount or period becomes null.
 */
export function readRouteBudget(value: unknown): RouteBudget | null {
  if (typeof value !== 'object' || value === null) return null;
  const amount = firstMemberOf(value, 'budget_limit', 'max_budget');
  const limit = typeof amount === 'string' || typeof amount === 'number' ? usdFrom(amount) : null;
  const period = firstMemberOf(value, 'time_period', 'budget_duration');
  return { limit, duration: typeof period === 'string' && isDuration(period) ? period : null };
}

/** Budgets of providers from a setting. Values that are not budgets, and negative budgets, are left out. */
export function readProviderBudgets(value: unknown): ProviderBudgets {
  if (!isJsonObject(value)) return NO_PROVIDER_BUDGETS;
  return new Map(
    Object.entries(value).flatMap(([provider, setting]) => {
      const budget = readRouteBudget(setting);
      return budget === null || (budget.limit ?? ZERO_USD) < 0n ? [] : [[provider, budget] as const];
    }),
  );
}

/**
 * The budget of all calls, from the settings with these names. Null when the amount is absent, malformed or negative. A
 * malformed duration is ignored.
 */
export function readGlobalBudget(max_budget: unknown, budget_duration: unknown): RouteBudget | null {
  const budget = readRouteBudget({ max_budget, budget_duration });
  return budget === null || budget.limit === null || budget.limit < 0n ? null : budget;
}

/** Whether a text is a duration, such as `1d`. */
export function isDuration(text: string): boolean {
  try {
    windowEnd(text, new Date(0));
    return true;
  } catch (error) {
    if (error instanceof InvalidInput) return false;
    throw error;
  }
}
