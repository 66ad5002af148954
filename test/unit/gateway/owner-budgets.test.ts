import { describe, expect, it } from 'vitest';
import { countersOf } from '../../../src/domain/admission/counters.ts';
import { BudgetExceeded } from '../../../src/domain/errors.ts';
import type { VirtualKey } from '../../../src/domain/keys/virtual-key.ts';
import { type Usd, usdFrom, ZERO_USD } from '../../../src/domain/money.ts';
import { chargedKeyOf, chargesOf, hasBudget } from '../../../src/gateway/admission/budget-charges.ts';
import { createBudgets } from '../../../src/gateway/admission/budgets.ts';
import type { CostReservation } from '../../../src/gateway/admission/cost-reservation.ts';
import { anAdmission } from '../../support/admission.ts';
import { aCaller, aDeployment, aKey } from '../../support/chat.ts';
import { someOwners } from '../../support/key-owners.ts';
import { randomFrom } from '../../support/random.ts';

const usd = (amount: number): Usd => usdFrom(amount) ?? ZERO_USD;
const NAMES = { userId: 'u', teamId: 't' };
const NOW = new Date(0);

type GivenOwners = Parameters<typeof someOwners>[0];

/** Counters that a call charges, with their limits. `refused`: a spend at the limit is refused, or only above it. */
const chargesFor = (ownerFields: GivenOwners, overrides: Parameters<typeof aKey>[0] = {}) =>
  chargesOf(aKey({ ...NAMES, ...overrides, owners: someOwners(ownerFields) }), usd(1), { now: NOW }).map(
    ({ counter, limit, refused, refusalText }) => ({ counter, limit, refused, text: refusalText(usd(9)) }),
  );

const text = (subject: string, budget: number): string =>
  `Budget has been exceeded! ${subject} Current cost: 9.0, Max budget: ${budget}.0`;

describe('budgets', () => {
  it('are checked in the order member, key, team, organization', () => {
    const owners = { team: { maxBudget: usd(2) }, member: { maxBudget: usd(3) }, organization: { maxBudget: usd(4) } };
    expect(chargesFor({ ...owners, user: { maxBudget: usd(5) } }, { maxBudget: usd(1) })).toEqual([
      { counter: 'member:["t","u"]', limit: usd(3), refused: 'at', text: text('TeamMember=u:t', 3) },
      { counter: `key:${aKey().hash}`, limit: usd(1), refused: 'at', text: text('Key=None (sk-...1234)', 1) },
      { counter: 'team:t', limit: usd(2), refused: 'above', text: text('Team=t', 2) },
      { counter: 'organization:o', limit: usd(4), refused: 'at', text: text('Organization=o', 4) },
    ]);
  });

  it('are checked in the order team, member where the member has the default budget of the team', () => {
    expect(chargesFor({ team: { maxBudget: usd(2) }, member: { maxBudget: usd(3) }, hasOwnLimits: false })).toEqual([
      { counter: 'team:t', limit: usd(2), refused: 'above', text: text('Team=t', 2) },
      { counter: 'member:["t","u"]', limit: usd(3), refused: 'at', text: text('User=u in Team=t', 3) },
    ]);
  });

  it('restart with the window of the budget row of a key, unless the key has its own window', () => {
    const resetAt = new Date('2026-02-01T00:00:00Z');
    const row = { maxBudget: usd(9), budgetDuration: '30d', budgetResetAt: resetAt, spentBefore: usd(4) };
    const limitOf = (fields: Partial<VirtualKey>, budget: GivenOwners['budget'] = row) =>
      chargesFor({ budget }, { teamId: null, ...fields }).map(({ limit }) => limit);
    expect(limitOf({ maxBudget: null })).toEqual([usd(13)]);
    expect(limitOf({ maxBudget: usd(1) })).toEqual([usd(5)]);
    // `spentBefore` of the key applies until the next window.
    expect(limitOf({ maxBudget: usd(1), spentBefore: usd(6) })).toEqual([usd(7)]);
    // In the first window all spend counts.
    expect(limitOf({ maxBudget: usd(1) }, { ...row, spentBefore: null })).toEqual([usd(1)]);
    const ownWindow = { budgetDuration: '1d', budgetResetAt: resetAt };
    expect(limitOf({ maxBudget: usd(1), ...ownWindow })).toEqual([usd(1)]);
  });

  it('include the budget of the user only for keys without a team', () => {
    const user = { maxBudget: usd(5) };
    expect(chargesFor({ user }, { teamId: null })).toEqual([
      { counter: 'user:u', limit: usd(5), refused: 'at', text: text('User=u', 5) },
    ]);
    expect(chargesFor({ user, team: {} })).toEqual([]);
  });

  it('refuse the first call where they are zero: member, team and organization', () => {
    const zeroBudget = { maxBudget: ZERO_USD };
    const charges = chargesFor({ team: zeroBudget, member: zeroBudget, organization: zeroBudget });
    expect(charges.map(({ refused }) => refused)).toEqual(['at', 'at', 'at']);
  });

  it('exist for a key when an owner that applies to it has a budget', () => {
    const has = (ownerFields: GivenOwners): boolean => hasBudget(aKey({ ...NAMES, owners: someOwners(ownerFields) }));
    const budget = { maxBudget: ZERO_USD };
    expect([has({ user: budget }), has({ team: budget }), has({ team: {}, member: budget })]).toEqual([
      true,
      true,
      true,
    ]);
    expect([has({ organization: budget }), has({}), has({ team: {}, user: budget })]).toEqual([true, false, false]);
  });

  it('have separate counters, also for ids with quotes and commas', () => {
    const counters = countersOf(chargedKeyOf(aKey({ teamId: 'a', userId: '","b' })));
    const otherCounters = countersOf(chargedKeyOf(aKey({ teamId: 'a","', userId: 'b' })));
    expect(counters.filter((counter) => otherCounters.includes(counter))).toEqual([`key:${aKey().hash}`]);
  });
});

/** Budgets where every call is expected to cost 3 USD. */
function budgetsOfThree() {
  const admission = anAdmission();
  const budgets = createBudgets({
    admission,
    expectations: { of: () => ({ cost: usd(3), learn: () => {} }) },
    isFree: () => false,
    errorKind: 'unprocessable',
    now: () => NOW,
  });
  return { admission, budgets };
}

describe('concurrent calls of keys of one team', () => {
  it.each(Array.from({ length: 20 }, (_, seed) => [seed]))(
    'exceed the budget of the team at most by one call and by costs above reservations (seed %i)',
    async (seed) => {
      const random = randomFrom(seed);
      const limit = usd(30);
      const { admission, budgets } = budgetsOfThree();
      const owners = someOwners({ team: { maxBudget: limit } });
      const callers = ['a', 'b', 'c', 'd'].map((letter) =>
        aCaller(aKey({ hash: letter.repeat(64), teamId: 't', owners })),
      );
      const open: CostReservation[] = [];
      let [spent, aboveReservations, refused] = [0n, 0n, 0];
      const settleOne = (): void => {
        const [reservation] = open.splice(random(open.length), 1);
        const cost = usd(random(5));
        if (cost > usd(3)) aboveReservations += cost - usd(3);
        spent += cost;
        reservation?.settle(cost);
        // A second settlement of a reservation changes nothing.
        reservation?.settle(cost);
      };
      for (let step = 0; step < 300; step += 1) {
        const caller = callers[random(callers.length)] ?? callers[0];
        if (caller === undefined) throw new Error('There are no callers.');
        try {
          const reservation = await budgets.reserve(caller, { deployment: aDeployment(), request: null });
          if (reservation !== null) open.push(reservation);
        } catch (failure) {
          if (!(failure instanceof BudgetExceeded)) throw failure;
          refused += 1;
        }
        if (open.length > 0 && random(3) > 0) settleOne();
      }
      while (open.length > 0) settleOne();
      expect(admission.counts()).toEqual({ open: 0, expired: 0 });
      expect(admission.usedOf('team:t')).toBe(spent);
      expect(spent - limit <= usd(3) + aboveReservations).toBe(true);
      expect([refused > 0, spent >= limit]).toEqual([true, true]);
    },
  );
});

describe('the spend of a call', () => {
  it('counts for the user of a key in a team, but the budget of the user refuses only keys without a team', async () => {
    const { admission, budgets } = budgetsOfThree();
    const call = { deployment: aDeployment(), request: null };
    const limits = { user: { maxBudget: usd(5) } };
    const withoutTeam = aCaller(aKey({ userId: 'u', owners: someOwners(limits) }));
    const inTeam = aCaller(aKey({ ...NAMES, owners: someOwners({ ...limits, team: { maxBudget: usd(9) } }) }));
    (await budgets.reserve(withoutTeam, call))?.settle(usd(1));
    (await budgets.reserve(inTeam, call))?.settle(usd(4));
    expect([admission.usedOf('user:u'), admission.usedOf('team:t')]).toEqual([usd(5), usd(4)]);
    expect(() => budgets.check(withoutTeam)).toThrow('User=u Current cost: 5.0, Max budget: 5.0');
    expect(budgets.check(inTeam)).toBeUndefined();
  });

  it('counts during a session, and is charged once to each owner when the session ends', async () => {
    const { admission, budgets } = budgetsOfThree();
    const owners = someOwners({ team: { maxBudget: usd(5) }, organization: { maxBudget: usd(9) } });
    const caller = aCaller(aKey({ ...NAMES, owners }));
    const reservation = await budgets.reserve(caller, { deployment: aDeployment(), request: null });
    reservation?.progress(usd(6));
    expect(() => budgets.check(caller)).toThrow('Team=t Current cost: 6.0, Max budget: 5.0');
    reservation?.settle(usd(6));
    expect([admission.usedOf('team:t'), admission.usedOf('organization:o')]).toEqual([usd(6), usd(6)]);
  });

  it('counts for the team of a batch when only the key and the team are known', async () => {
    const { admission, budgets } = budgetsOfThree();
    const caller = aCaller(aKey({ ...NAMES, owners: someOwners({ team: { maxBudget: usd(5) } }) }));
    await budgets.check(caller);
    budgets.charge(
      { keyHash: caller.keyHash, teamId: 't', userId: null, organizationId: null, projectId: null },
      usd(6),
    );
    expect(admission.usedOf('team:t')).toBe(usd(6));
    expect(() => budgets.check(caller)).toThrow('Team=t Current cost: 6.0, Max budget: 5.0');
  });
});
