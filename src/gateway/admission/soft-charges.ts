import { keyCounter } from '../../domain/admission/counters.ts';
import type { VirtualKey } from '../../domain/keys/virtual-key.ts';
import { type Usd, usdFrom, ZERO_USD } from '../../domain/money.ts';
import type { BudgetCharge } from './budget-charges.ts';
import { amountText, resetText } from './budget-texts.ts';
import type { LabelBudget } from './label-budgets.ts';
import {
  countedOf,
  labelBudget,
  memberBudget,
  organizationBudget,
  type OwnerBudget,
  projectBudget,
  teamBudget,
  userBudget,
} from './owner-budgets.ts';

/** A soft budget of a call as a charge that is only checked, with the text of its alert. */
export interface SoftCharge extends BudgetCharge {
  /** End of its window, Unix ms; 0 where its spend is never reset. */
  readonly windowEndMs: number;
}

/** The soft budget of a key, else of the budget that it names. */
function softBudgetOfKey(key: VirtualKey): OwnerBudget {
  const { settings, owners } = key;
  return {
    scope: 'key',
    counter: keyCounter(key.hash),
    budget: null,
    soft: settings.softBudget === undefined ? owners?.budget?.softBudget : usdFrom(settings.softBudget),
    ...countedOf(key),
    subject: `Key=${key.alias ?? 'None'} (${key.name})`,
  };
}

/** The soft budgets of a key, its owners and the labels of a call. */
export function softChargesOf(key: VirtualKey | null, labels: readonly LabelBudget[]): readonly SoftCharge[] {
  const owners = labels.map(labelBudget);
  if (key !== null) {
    owners.push(softBudgetOfKey(key));
    for (const ownerBudget of [userBudget, teamBudget, memberBudgetOf, organizationBudget, projectBudget]) {
      const owner = ownerBudget(key);
      if (owner !== null) owners.push(owner);
    }
  }
  return owners.flatMap(({ scope, counter, soft, spentBefore, subject, window = null }) => {
    if (soft === null || soft === undefined) return [];
    const textOf = (spent: Usd): string =>
      `Soft budget has been crossed! ${subject} Current cost: ${amountText(spent - spentBefore)}, Soft budget: ${amountText(soft)}${resetText(window)}`;
    const charge = { scope, counter, limit: soft + spentBefore, amount: ZERO_USD, refused: 'at' as const };
    return [{ ...charge, refusalText: textOf, windowEndMs: window?.resetAt.getTime() ?? 0 }];
  });
}

const memberBudgetOf = (key: VirtualKey): OwnerBudget | null => memberBudget(key, false);
