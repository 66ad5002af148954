import type { Limits } from '../../domain/budgets/limits.ts';
import { windowBudget } from '../../domain/keys/budget-windows.ts';
import type { KeyBudgetWindow } from '../../domain/keys/key-settings.ts';
import type { VirtualKey } from '../../domain/keys/virtual-key.ts';
import { type Usd, usdNumber, usdText } from '../../domain/money.ts';
import type { CurrentTeamWindow } from '../../domain/teams/team-windows.ts';

/** Error text of an exceeded budget, as in the reference. */
export function budgetText(subject: string, spent: Usd, budget: Usd): string {
  return `Budget has been exceeded! ${subject} Current cost: ${amountText(spent)}, Max budget: ${amountText(budget)}`;
}

export const keyText = ({ alias, name }: VirtualKey, spent: Usd, budget: Usd): string =>
  budgetText(`Key=${alias ?? 'None'} (${name})`, spent, budget);

export function keyWindowText({ alias, name }: VirtualKey, window: KeyBudgetWindow, spent: Usd): string {
  const { budgetDuration: duration, resetAt } = window;
  const text = `ExceededBudget: Key over ${duration} budget. ${roundedText(spent, windowBudget(window))}`;
  return `${text}. Key=${alias ?? 'None'} (${name})${resetText({ duration, resetAt: new Date(resetAt) })}`;
}

const roundedText = (spent: Usd, budget: Usd): string =>
  `Spend=$${usdNumber(spent).toFixed(4)}, Limit=$${usdNumber(budget).toFixed(2)}`;

/** Error text of an exceeded window of a team. */
export const teamWindowText = (teamId: string, { duration, budget, resetAt }: CurrentTeamWindow, spent: Usd): string =>
  `ExceededBudget: Team=${teamId} over ${duration} budget. ${roundedText(spent, budget)}${resetText({ duration, resetAt })}`;

/** Length of a budget window, e.g. `30d`, and its end. */
export interface Window {
  readonly duration: string;
  readonly resetAt: Date;
}

/** The window of a budget; null where its spend is never reset. */
export const windowIn = ({
  budgetDuration: duration,
  budgetResetAt: resetAt,
}: Pick<Limits, 'budgetDuration' | 'budgetResetAt'>): Window | null =>
  duration === null || resetAt === null ? null : { duration, resetAt };

/** Suffix of an error text: the budget window and its reset time. */
export const resetText = (window: Window | null): string =>
  window === null
    ? ''
    : `. Budget window: ${window.duration}. Budget resets at: ${window.resetAt.toISOString().slice(0, 19).replace('T', ' ')} UTC`;

/** An amount in USD as in the reference: always with a decimal point. */
export const amountText = (amount: bigint): string => {
  const text = usdText(amount as Usd);
  return text.includes('.') ? text : `${text}.0`;
};

/** Error text of an exceeded budget of an end user, as in the reference. */
export const endUserText = (subject: string, spent: Usd, budget: Usd): string =>
  `ExceededBudget: ${subject} over budget. Spend=${amountText(spent)}, Budget=${amountText(budget)}`;
