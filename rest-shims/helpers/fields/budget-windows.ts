import type { WantedWindow } from '../../../src/domain/keys/key-settings.ts';
import { usdFrom, usdText } from '../../../src/domain/money.ts';
import { type FieldReader, number } from '../http/body-fields.ts';
import { object as objectIn } from '../../../src/wire/json/fields.ts';

export const NOT_AN_AMOUNT = { rule: 'float_type', message: 'Input should be a valid number' };

/** A budget window: `{budget_duration, max_budget}`, the budget in USD. */
export const budgetWindow: FieldReader<WantedWindow | null> = (input) => {
  const { budget_duration: duration, max_budget: maxBudget } = objectIn(input);
  const amount = number(maxBudget);
  if (typeof duration !== 'string') return { rule: 'string_type', message: 'Input should be a valid string' };
  if (!('value' in amount)) return amount;
  const budget = amount.value === null ? null : usdFrom(amount.value);
  if (budget === null || budget < 0n) return NOT_AN_AMOUNT;
  return { value: { budgetDuration: duration, maxBudget: usdText(budget) } };
};
