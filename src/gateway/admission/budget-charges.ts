import type { Charge } from '../../domain/admission/admission.ts';
import { type ChargedKey, keyCounter, spendCounter } from '../../domain/admission/counters.ts';
import { BUDGET_REFUSES, type BudgetScope } from '../../domain/admission/scopes.ts';
import { currentBudgetOf, windowBudget, windowLimit } from '../../domain/keys/budget-windows.ts';
import type { Limits } from '../../domain/budgets/limits.ts';
import type { VirtualKey } from '../../domain/keys/virtual-key.ts';
import type { CountedWindow } from '../../domain/owners/key-owners.ts';
import type { BudgetWindow } from '../../domain/budgets/budget-window.ts';
import type { LabelBudget } from './label-budgets.ts';
import { type CallWindows, NO_WINDOWS, type WindowBudget } from './window-budgets.ts';
import { type Usd, ZERO_USD } from '../../domain/money.ts';
import { amountText, budgetText, keyText, resetText, teamWindowText, keyWindowText } from './budget-texts.ts';
import {
  keyBudgetWindow,
  labelBudget,
  memberBudget,
  organizationBudget,
  type OwnerBudget,
  projectBudget,
  teamBudget,
  userBudget,
} from './owner-budgets.ts';

const NO_CHARGES: readonly BudgetCharge[] = Object.freeze([]);
const NO_LABELS: readonly LabelBudget[] = Object.freeze([]);

/** A budget as a charge, with the text of its refusal. */
export interface BudgetCharge extends Charge {
  readonly scope: BudgetScope;
  /** Text of the refusal for a spent amount. */
  readonly refusalText: (spent: Usd) => string;
  /** Owner of the budget, where the counter alone does not name it. */
  readonly owner?: string;
  /** Budget window with its own counter; absent where the budget counts in the total of its owner. */
  readonly ownWindow?: BudgetWindow;
  /** The charge is checked and not counted, because another charge of the call counts in the same counter. */
  readonly isOnlyChecked?: true;
}

const hasMaxBudget = (limits: Limits | null | undefined): boolean =>
  limits?.maxBudget !== null && limits?.maxBudget !== undefined;

/** Whether a key has a budget of its own or of its owners. Budgets for single models are not included. */
export function hasBudget({ maxBudget, settings, owners }: VirtualKey): boolean {
  if (maxBudget !== null || settings.budgetLimits !== undefined) return true;
  if (owners === undefined) return false;
  const { user, team, member, organization, project, budget } = owners;
  return (
    hasMaxBudget(budget) ||
    (team === null && hasMaxBudget(user?.limits)) ||
    hasMaxBudget(team?.limits) ||
    team?.windows !== undefined ||
    hasMaxBudget(member?.limits) ||
    hasMaxBudget(organization?.limits) ||
    hasMaxBudget(project?.limits)
  );
}

/** The key and the owners whose spend includes a cost. */
export const chargedKeyOf = ({ hash, teamId, userId, owners }: VirtualKey): ChargedKey => ({
  keyHash: hash,
  teamId,
  userId,
  organizationId: owners?.organization?.id ?? null,
  projectId: owners?.project?.id ?? null,
});

/** The budgets and budget windows of the key, the owners and the labels of a call, in the order of the checks. */
export function chargesOf(
  key: VirtualKey | null,
  amount: Usd,
  {
    now,
    labels = NO_LABELS,
    windows = NO_WINDOWS,
  }: { readonly now: Date; readonly labels?: readonly LabelBudget[]; readonly windows?: CallWindows },
): readonly BudgetCharge[] {
  if (key === null) {
    const charges: BudgetCharge[] = [];
    addWindows(charges, windows.early, amount);
    addLabels(charges, 'tag', { labels, amount });
    addLabels(charges, 'end_user', { labels, amount });
    addWindows(charges, windows.all, amount);
    addWindows(charges, windows.route, amount);
    return charges;
  }
  const ownCharge = keyCharge(key, amount, now);
  const windowCharge = keyWindowCharge(key, amount, ownCharge);
  // The charge of the window counts in the counter of the key, so the charge of the key only checks it.
  const own =
    ownCharge !== null && windowCharge !== null
      ? { ...ownCharge, amount: ZERO_USD, isOnlyChecked: true as const }
      : ownCharge;
  if (key.owners === undefined && labels.length === 0 && windows === NO_WINDOWS) {
    if (own === null) return windowCharge === null ? NO_CHARGES : [windowCharge];
    return windowCharge === null ? [own] : [own, windowCharge];
  }
  const charges: BudgetCharge[] = [];
  if (key.owners !== undefined) {
    // A positive budget of the member itself is checked first. A budget that the team sets for its members is checked
    // after those of the team and the user.
    const isEarly = key.owners.member?.hasOwnLimits === true && (key.owners.member.limits?.maxBudget ?? ZERO_USD) > 0n;
    const member = memberBudget(key, isEarly);
    if (isEarly) addOwner(charges, member, amount);
    if (own !== null) charges.push(own);
    addWindows(charges, windows.early, amount);
    addOwner(charges, projectBudget(key), amount);
    addTeam(charges, key, amount);
    if (windowCharge !== null) charges.push(windowCharge);
    addOwner(charges, organizationBudget(key), amount);
    addLabels(charges, 'tag', { labels, amount });
    addOwner(charges, userBudget(key), amount);
    if (!isEarly) addOwner(charges, member, amount);
  } else {
    if (own !== null) charges.push(own);
    addWindows(charges, windows.early, amount);
    if (windowCharge !== null) charges.push(windowCharge);
    addLabels(charges, 'tag', { labels, amount });
  }
  addLabels(charges, 'end_user', { labels, amount });
  addWindows(charges, windows.all, amount);
  addWindows(charges, windows.team, amount);
  addWindows(charges, windows.route, amount);
  return charges;
}

/** Adds budgets whose windows have their own counters. */
function addWindows(charges: BudgetCharge[], windows: readonly WindowBudget[], amount: Usd): void {
  for (const { scope, owner, window, counter, limit, duration, text } of windows) {
    const reset = duration === null || window.endMs === 0 ? null : { duration, resetAt: new Date(window.endMs) };
    charges.push({
      scope,
      counter,
      limit,
      amount,
      refused: limit === 0n ? 'at' : BUDGET_REFUSES[scope],
      refusalText: (spent) => `${text(amountText(spent), amountText(limit))}${resetText(reset)}`,
      owner,
      ownWindow: window,
    });
  }
}

/**
 * Charge of the budget of a key; null without one. This budget and the budgets of the key's windows share one counter,
 * the total spend of the key. The limit of a window therefore contains the spend before the window, and only the
 * smallest limit counts.
 */
function keyCharge(key: VirtualKey, amount: Usd, now: Date): BudgetCharge | null {
  const maxBudget = key.maxBudget ?? key.owners?.budget?.maxBudget ?? null;
  if (maxBudget === null) return null;
  const budget = currentBudgetOf({ maxBudget, metadata: key.metadata }, now) ?? maxBudget;
  const { spentBefore, window } = keyBudgetWindow(key);
  return {
    scope: 'key',
    counter: keyCounter(key.hash),
    limit: budget + spentBefore,
    amount,
    refused: BUDGET_REFUSES.key,
    refusalText: (spent) => `${keyText(key, (spent - spentBefore) as Usd, budget)}${resetText(window)}`,
  };
}

/**
 * Charge of the key's window with the smallest limit. Null without windows, and where the key's own budget has an equal
 * or smaller limit.
 */
function keyWindowCharge(key: VirtualKey, amount: Usd, own: BudgetCharge | null): BudgetCharge | null {
  const windows = key.settings.budgetLimits;
  if (windows === undefined) return null;
  const [first, ...others] = windows;
  if (first === undefined) return null;
  const least = others.reduce((one, other) => (windowLimit(other) < windowLimit(one) ? other : one), first);
  const limit = windowLimit(least);
  if (own !== null && own.limit <= limit) return null;
  const spentBefore = limit - windowBudget(least);
  return {
    scope: 'key_window',
    counter: keyCounter(key.hash),
    limit,
    amount,
    refused: BUDGET_REFUSES.key_window,
    refusalText: (spent) => keyWindowText(key, least, (spent - spentBefore) as Usd),
  };
}

/** Adds the budget of an owner. A budget of zero refuses every call, in every scope. */
function addOwner(charges: BudgetCharge[], owner: OwnerBudget | null, amount: Usd): void {
  if (owner === null || owner.budget === null || owner.budget === undefined) return;
  const { scope, counter, budget, spentBefore, subject, window = null, textOf = budgetText } = owner;
  charges.push({
    scope,
    counter,
    limit: budget + spentBefore,
    amount,
    refused: budget === 0n ? 'at' : BUDGET_REFUSES[scope],
    refusalText: (spent) => `${textOf(subject, (spent - spentBefore) as Usd, budget)}${resetText(window)}`,
  });
}

/**
 * Adds the budget of a team and the budgets of its windows. They share one counter, the total spend of the team, and
 * only the smallest limit counts.
 */
function addTeam(charges: BudgetCharge[], key: VirtualKey, amount: Usd): void {
  const team = key.owners?.team;
  const ownIndex = charges.length;
  addOwner(charges, teamBudget(key), amount);
  const own = charges[ownIndex];
  const [first, ...others] = team?.windows ?? [];
  if (team === undefined || team === null || first === undefined) return;
  const limitOf = ({ budget, spentBefore }: CountedWindow): Usd => (budget + spentBefore) as Usd;
  const least = others.reduce((one, other) => (limitOf(other) < limitOf(one) ? other : one), first);
  const limit = limitOf(least);
  if (own !== undefined) {
    // At equal limits, the window is stricter than a budget that refuses only above its limit.
    const isStricter = own.refused === 'at' ? own.limit <= limit : own.limit < limit;
    if (isStricter) return;
    charges[ownIndex] = { ...own, amount: ZERO_USD, isOnlyChecked: true };
  }
  charges.push({
    scope: 'team_window',
    counter: spendCounter('team', team.id),
    limit,
    amount,
    refused: BUDGET_REFUSES.team_window,
    refusalText: (spent) => teamWindowText(team.id, least, (spent - least.spentBefore) as Usd),
  });
}

/** Adds the budgets of the labels of one scope. */
function addLabels(
  charges: BudgetCharge[],
  scope: LabelBudget['scope'],
  { labels, amount }: { readonly labels: readonly LabelBudget[]; readonly amount: Usd },
): void {
  for (const label of labels) if (label.scope === scope) addOwner(charges, labelBudget(label), amount);
}
