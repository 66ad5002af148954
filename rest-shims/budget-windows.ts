import type { WantedWindow } from '../src/domain/keys/key-settings.ts';
import { usdFrom, usdText } from '../src/domain/money.ts';
import { type FieldReader, number } from './http/body-fields.ts';

type SentFields = Readonly<Record<string, unknown>>;

export const NOT_AN_AMOUNT = { rule: 'float_type', message: 'Input should be a valid number' };

/** The members of an object; none of another value. */
export const recordMembers = (sent: unknown): SentFields =>
  typeof sent === 'object' && sent !== null && !Array.isArray(sent) ? { ...sent } : {};

/** A budget of a window: `{budget_duration, max_budget}`. */
export const budgetWindow: FieldReader<WantedWindow | null> = (sent) => {
  const { budget_duration: duration, max_budget: most } = recordMembers(sent);
  const amount = number(most);
  if (typeof duration !== 'string') return { rule: 'string_type', message: 'Input should be a valid string' };
  if (!('value' in amount)) return amount;
  const budget = amount.value === null ? null : usdFrom(amount.value);
  if (budget === null || budget < 0n) return NOT_AN_AMOUNT;
  return { value: { budgetDuration: duration, maxBudget: usdText(budget) } };
};

/** A budget of a window of a row, with the end of its current window. */
export const renderWindow = ({ budgetDuration, maxBudget, resetAt }: WantedWindow & { readonly resetAt: string }) => ({
  budget_duration: budgetDuration,
  max_budget: Number(maxBudget),
  reset_at: resetAt,
});
