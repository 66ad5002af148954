import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { newBudget } from '../../src/domain/budgets/budget.ts';
import { newTeam } from '../../src/domain/teams/team.ts';
import { newUser } from '../../src/domain/users/user.ts';
import type { Stores } from '../../src/persistence/stores.ts';
import { ENGINES, type ScratchDatabase } from './engines.ts';
import { START_MS } from './samples.ts';

const ABOUT = { id: 'o', now: new Date(START_MS), by: 'admin' };

/** By kind: adds an owner, whose budget has a window unless its duration is null. Resolves to the owner. */
const OWNERS: Readonly<
  Record<string, (stores: Stores, budgetDuration: string | null) => Promise<{ readonly budgetResetAt: Date | null }>>
> = {
  async user({ users }, budgetDuration) {
    const user = newUser({ budgetDuration }, ABOUT);
    await users.add(user);
    return user;
  },
  async team({ teams }, budgetDuration) {
    const team = newTeam({ budgetDuration }, ABOUT);
    await teams.add(team);
    return team;
  },
  async budget({ budgets }, budgetDuration) {
    const budget = newBudget({ budgetDuration }, ABOUT);
    await budgets.add(budget);
    return budget;
  },
};

for (const engine of ENGINES)
  describe.skipIf(engine.skipReason !== null)(`ends of budget windows on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let stores: Stores;
    beforeAll(async () => {
      scratch = await engine.create();
      stores = await scratch.open();
    });
    afterEach(() => scratch.clear());
    afterAll(() => scratch.remove());

    it.each(Object.keys(OWNERS))('are found for a %s', async (kind) => {
      const owner = await OWNERS[kind]?.(stores, '30d');
      const endMs = owner?.budgetResetAt?.getTime() ?? Number.NaN;
      expect(await stores.ownerWindows.anyEnded(new Date(endMs - 1))).toBe(false);
      expect(await stores.ownerWindows.anyEnded(new Date(endMs))).toBe(true);
    });

    it.each(Object.keys(OWNERS))('do not exist for a %s without a window', async (kind) => {
      await OWNERS[kind]?.(stores, null);
      // Decades later.
      expect(await stores.ownerWindows.anyEnded(new Date(START_MS * 2))).toBe(false);
    });
  });
