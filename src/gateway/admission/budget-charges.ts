import type { Charge } from '../../domain/admission/admission.ts';
import { type Charged, keyCounter, memberId, spendCounter } from '../../domain/admission/counters.ts';
import { BUDGET_REFUSES, type BudgetScope } from '../../domain/admission/scopes.ts';
import { budgetOf, windowBudget, windowLimit } from '../../domain/keys/budget-windows.ts';
import type { CountedLimits, Limits } from '../../domain/budgets/limits.ts';
import type { VirtualKey } from '../../domain/keys/virtual-key.ts';
import type { BudgetWindow } from '../../domain/budgets/budget-window.ts';
import type { LabelBudget } from './label-budgets.ts';
import { type CallWindows, NO_WINDOWS, type WindowBudget } from './window-budgets.ts';
import { type Usd, usdFrom, ZERO_USD } from '../../domain/money.ts';
import {
  amountText,
  budgetText,
  endUserText,
  keyText,
  resetText,
  type Window,
  windowIn,
  windowText,
} from './budget-texts.ts';

/** A budget as a charge, with the text of its refusal. */
export interface BudgetCharge extends Charge {
  readonly scope: BudgetScope;
  /** Text of the refusal for a spent amount. */
  readonly refusalText: (spent: Usd) => string;
  /** Owner of the budget, where the counter alone does not name it. */
  readonly owner?: string;
  /** Its window, where that has a counter of its own. */
  readonly counts?: BudgetWindow;
  /** Only the use is checked, because another charge of the call reserves and counts in the same counter. */
  readonly isOnlyChecked?: true;
}

/** A budget of an owner, to be compared with the owner's spend. */
interface OwnerBudget {
  readonly scope: BudgetScope;
  readonly counter: string;
  readonly budget: Usd | null | undefined;
  /** Its soft budget, which refuses nothing. */
  readonly soft: Usd | null | undefined;
  /** Total spend of the owner at the start of its budget window. */
  readonly spentBefore: Usd;
  /** Subject of the refusal, e.g. `Team=<id>`. */
  readonly subject: string;
  /** Its window; absent where the spend is never reset. */
  readonly window?: Window | null;
  /** Text of the refusal, where it is not the common one. */
  readonly textOf?: (subject: string, spent: Usd, budget: Usd) => string;
}

const isLimited = (limits: Limits | null | undefined): boolean =>
  limits?.maxBudget !== null && limits?.maxBudget !== undefined;

/** Whether the spend of a key is compared with any budget. */
export function hasBudget({ maxBudget, settings, owners }: VirtualKey): boolean {
  if (maxBudget !== null || settings.budgetLimits !== undefined) return true;
  if (owners === undefined) return false;
  const { user, team, member, organization, project, budget } = owners;
  return (
    isLimited(budget) ||
    (team === null && isLimited(user?.limits)) ||
    isLimited(team?.limits) ||
    isLimited(member?.limits) ||
    isLimited(organization?.limits) ||
    isLimited(project?.limits)
  );
}

/** A key and its owners, as a cost counts in their spend. */
export const chargedOf = ({ hash, teamId, userId, owners }: VirtualKey): Charged => ({
  keyHash: hash,
  teamId,
  userId,
  organizationId: owners?.organization?.id ?? null,
  projectId: owners?.project?.id ?? null,
});

/**
 * The budgets of a key, its owners and the labels of a call, in the order in which they are checked. Each is one charge of
 * its own counter.
 */
export function chargesOf(
  key: VirtualKey | null,
  amount: Usd,
  {
    now,
    labels = [],
    windows = NO_WINDOWS,
  }: { readonly now: Date; readonly labels?: readonly LabelBudget[]; readonly windows?: CallWindows },
): readonly BudgetCharge[] {
  if (key === null) {
    const charges: BudgetCharge[] = [];
    addWindows(charges, windows.early, amount);
    addLabels(charges, 'tag', { labels, amount });
    addLabels(charges, 'end_user', { labels, amount });
    addWindows(charges, windows.route, amount);
    return charges;
  }
  const own = keyCharges(key, amount, now);
  const charges: BudgetCharge[] = [];
  if (key.owners !== undefined) {
    const isEarly = key.owners.member?.hasOwnLimits === true && (key.owners.member.limits?.maxBudget ?? ZERO_USD) > 0n;
    const member = memberBudget(key, isEarly);
    if (isEarly) addOwner(charges, member, amount);
    if (own.key !== null) charges.push(own.key);
    addWindows(charges, windows.early, amount);
    addOwner(charges, projectBudget(key), amount);
    addOwner(charges, teamBudget(key), amount);
    if (own.window !== null) charges.push(own.window);
    addOwner(charges, organizationBudget(key), amount);
    addLabels(charges, 'tag', { labels, amount });
    addOwner(charges, userBudget(key), amount);
    if (!isEarly) addOwner(charges, member, amount);
  } else {
    if (own.key !== null) charges.push(own.key);
    addWindows(charges, windows.early, amount);
    if (own.window !== null) charges.push(own.window);
    addLabels(charges, 'tag', { labels, amount });
  }
  addLabels(charges, 'end_user', { labels, amount });
  addWindows(charges, windows.team, amount);
  addWindows(charges, windows.route, amount);
  return charges;
}

/** Adds budgets whose windows have counters of their own. */
function addWindows(charges: BudgetCharge[], windows: readonly WindowBudget[], amount: Usd): void {
  for (const { scope, owner, window, counter, limit, duration, text } of windows) {
    const reset = duration === null || window.endMs === 0 ? null : { duration, resetAt: new Date(window.endMs) };
    charges.push({
      scope,
      counter,
      limit,
      amount,
      refused: BUDGET_REFUSES[scope],
      refusalText: (spent) => `${text(amountText(spent), amountText(limit))}${resetText(reset)}`,
      owner,
      counts: window,
    });
  }
}

/**
 * The budget of a key and those of its windows compare one counter, the total of the key: a budget with windows has a
 * limit that is higher by the spend before its window. So the smallest limit is the one charge of that counter. The
 * budget of the key is checked before those of its owners, its windows after them.
 */
function keyCharges(
  key: VirtualKey,
  amount: Usd,
  now: Date,
): { readonly key: BudgetCharge | null; readonly window: BudgetCharge | null } {
  const counter = keyCounter(key.hash);
  const maxBudget = key.maxBudget ?? key.owners?.budget?.maxBudget ?? null;
  const budget = budgetOf({ maxBudget, metadata: key.metadata }, now);
  const { settings } = key;
  const { spentBefore, window: ownWindow } = countedOf(key);
  const charge = (scope: BudgetScope, limit: Usd, refusalText: BudgetCharge['refusalText']): BudgetCharge => ({
    scope,
    counter,
    limit,
    amount,
    refused: BUDGET_REFUSES[scope],
    refusalText,
  });
  const own =
    budget === null
      ? null
      : charge(
          'key',
          (budget + spentBefore) as Usd,
          (spent) => `${keyText(key, (spent - spentBefore) as Usd, budget)}${resetText(ownWindow)}`,
        );
  const [first, ...others] = settings.budgetLimits ?? [];
  if (first === undefined) return { key: own, window: null };
  const least = others.reduce((one, other) => (windowLimit(other) < windowLimit(one) ? other : one), first);
  const limit = windowLimit(least);
  if (own !== null && own.limit <= limit) return { key: own, window: null };
  const before = limit - windowBudget(least);
  const window = charge('key_window', limit, (spent) => windowText(key, least, (spent - before) as Usd));
  return { key: own === null ? null : { ...own, amount: ZERO_USD, isOnlyChecked: true }, window };
}

/**
 * The window of a key's budget: its own one, else that of the budget row that the key names, also for an amount of its
 * own. A spend that an administrator has set stays until the next window of the row.
 */
function countedOf(key: VirtualKey): Required<Pick<OwnerBudget, 'spentBefore' | 'window'>> {
  const row = key.budgetDuration === null ? (key.owners?.budget ?? null) : null;
  if (row === null) return { spentBefore: key.spentBefore, window: windowIn(key) };
  const { spentBefore } = row;
  const isLater = spentBefore !== null && spentBefore > key.spentBefore;
  return { spentBefore: isLater ? spentBefore : key.spentBefore, window: windowIn(row) };
}

/** Adds the budget of an owner. A budget of zero refuses every call, on each scope. */
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

/** Adds the budgets of the labels of one scope. */
function addLabels(
  charges: BudgetCharge[],
  scope: LabelBudget['scope'],
  { labels, amount }: { readonly labels: readonly LabelBudget[]; readonly amount: Usd },
): void {
  for (const label of labels) if (label.scope === scope) addOwner(charges, labelBudget(label), amount);
}

const labelBudget = ({ scope, id, budget, soft, spentBefore, window }: LabelBudget): OwnerBudget => ({
  scope,
  counter: spendCounter(scope, id),
  budget,
  soft,
  spentBefore,
  window,
  ...(scope === 'tag' ? { subject: `Tag=${id}` } : { subject: `End User=${id}`, textOf: endUserText }),
});

function teamBudget({ owners }: VirtualKey): OwnerBudget | null {
  const team = owners?.team ?? null;
  if (team === null) return null;
  const { id, limits, spentBefore } = team;
  return {
    scope: 'team',
    counter: spendCounter('team', id),
    budget: limits.maxBudget,
    soft: limits.softBudget,
    spentBefore,
    window: windowIn(limits),
    subject: `Team=${id}`,
  };
}

/** The budget of a user holds for keys without a team. */
function userBudget({ owners }: VirtualKey): OwnerBudget | null {
  const user = owners?.user ?? null;
  if (user === null || owners?.team !== null) return null;
  const { id, limits, spentBefore } = user;
  return {
    scope: 'user',
    counter: spendCounter('user', id),
    budget: limits.maxBudget,
    soft: limits.softBudget,
    spentBefore,
    window: windowIn(limits),
    subject: `User=${id}`,
  };
}

/** The window of a budget row. */
const countedIn = (limits: CountedLimits | null): Pick<OwnerBudget, 'spentBefore' | 'window'> => ({
  spentBefore: limits?.spentBefore ?? ZERO_USD,
  window: limits === null ? null : windowIn(limits),
});

/** The text differs for a member with a budget of its own, whose check comes first. */
function memberBudget({ teamId, userId, owners }: VirtualKey, isEarly: boolean): OwnerBudget | null {
  const member = owners?.member ?? null;
  if (member === null || teamId === null || userId === null) return null;
  return {
    scope: 'team_member',
    counter: spendCounter('member', memberId(teamId, userId)),
    budget: member.limits?.maxBudget,
    soft: member.limits?.softBudget,
    ...countedIn(member.limits),
    subject: isEarly ? `TeamMember=${userId}:${teamId}` : `User=${userId} in Team=${teamId}`,
  };
}

function organizationBudget({ owners }: VirtualKey): OwnerBudget | null {
  const organization = owners?.organization ?? null;
  if (organization === null) return null;
  const { id, limits } = organization;
  return {
    scope: 'organization',
    counter: spendCounter('organization', id),
    budget: limits?.maxBudget,
    soft: limits?.softBudget,
    ...countedIn(limits),
    subject: `Organization=${id}`,
  };
}

function projectBudget({ owners }: VirtualKey): OwnerBudget | null {
  const project = owners?.project ?? null;
  if (project === null) return null;
  const { id, limits } = project;
  return {
    scope: 'project',
    counter: spendCounter('project', id),
    budget: limits?.maxBudget,
    soft: limits?.softBudget,
    ...countedIn(limits),
    subject: `Project=${id}`,
  };
}

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
