import { memberId, spendCounter } from '../../domain/admission/counters.ts';
import type { BudgetScope } from '../../domain/admission/scopes.ts';
import type { CountedLimits } from '../../domain/budgets/limits.ts';
import type { VirtualKey } from '../../domain/keys/virtual-key.ts';
import { type Usd, ZERO_USD } from '../../domain/money.ts';
import { endUserText, type Window, windowIn } from './budget-texts.ts';
import type { LabelBudget } from './label-budgets.ts';

/** A budget of an owner, to be compared with the owner's spend. */
export interface OwnerBudget {
  readonly scope: BudgetScope;
  readonly counter: string;
  /** Null or undefined for none. */
  readonly budget: Usd | null | undefined;
  /** Soft budget, which refuses nothing; null or undefined for none. */
  readonly soft: Usd | null | undefined;
  /** Total spend of the owner at the start of its budget window. */
  readonly spentBefore: Usd;
  /** Subject of the refusal, e.g. `Team=<id>`. */
  readonly subject: string;
  /** Window of the budget; null or absent where the spend is never reset. */
  readonly window?: Window | null;
  /** Text of the refusal; `budgetText` when absent. */
  readonly textOf?: (subject: string, spent: Usd, budget: Usd) => string;
}

/**
 * The window of a key's budget, and the key's spend before it. A key without its own window uses the window of the
 * budget row that the key names, even if the key has its own amount. The larger `spentBefore` of key and row counts.
 * A spend that an administrator sets changes the key's value, which applies until the row's next window begins.
 */
export function keyBudgetWindow(key: VirtualKey): Required<Pick<OwnerBudget, 'spentBefore' | 'window'>> {
  const row = key.budgetDuration === null ? (key.owners?.budget ?? null) : null;
  if (row === null) return { spentBefore: key.spentBefore, window: windowIn(key) };
  const { spentBefore } = row;
  const isRowLarger = spentBefore !== null && spentBefore > key.spentBefore;
  return { spentBefore: isRowLarger ? spentBefore : key.spentBefore, window: windowIn(row) };
}

export const labelBudget = ({ scope, id, budget, soft, spentBefore, window }: LabelBudget): OwnerBudget => ({
  scope,
  counter: spendCounter(scope, id),
  budget,
  soft,
  spentBefore,
  window,
  ...(scope === 'tag' ? { subject: `Tag=${id}` } : { subject: `End User=${id}`, textOf: endUserText }),
});

export function teamBudget({ owners }: VirtualKey): OwnerBudget | null {
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

/** The budget of a user, which applies to keys without a team. */
export function userBudget({ owners }: VirtualKey): OwnerBudget | null {
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

/** The window of a budget row, and the owner's spend before it. */
const rowBudgetWindow = (limits: CountedLimits | null): Pick<OwnerBudget, 'spentBefore' | 'window'> => ({
  spentBefore: limits?.spentBefore ?? ZERO_USD,
  window: limits === null ? null : windowIn(limits),
});

/**
 * Null for a key that is not of a team member. `isEarly`: the member has its own budget, which is checked first and
 * named differently in its error.
 */
export function memberBudget({ teamId, userId, owners }: VirtualKey, isEarly = false): OwnerBudget | null {
  const member = owners?.member ?? null;
  if (member === null || teamId === null || userId === null) return null;
  return {
    scope: 'team_member',
    counter: spendCounter('member', memberId(teamId, userId)),
    budget: member.limits?.maxBudget,
    soft: member.limits?.softBudget,
    ...rowBudgetWindow(member.limits),
    subject: isEarly ? `TeamMember=${userId}:${teamId}` : `User=${userId} in Team=${teamId}`,
  };
}

export function organizationBudget({ owners }: VirtualKey): OwnerBudget | null {
  const organization = owners?.organization ?? null;
  if (organization === null) return null;
  const { id, limits } = organization;
  return {
    scope: 'organization',
    counter: spendCounter('organization', id),
    budget: limits?.maxBudget,
    soft: limits?.softBudget,
    ...rowBudgetWindow(limits),
    subject: `Organization=${id}`,
  };
}

export function projectBudget({ owners }: VirtualKey): OwnerBudget | null {
  const project = owners?.project ?? null;
  if (project === null) return null;
  const { id, limits } = project;
  return {
    scope: 'project',
    counter: spendCounter('project', id),
    budget: limits?.maxBudget,
    soft: limits?.softBudget,
    ...rowBudgetWindow(limits),
    subject: `Project=${id}`,
  };
}
