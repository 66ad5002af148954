import { expect, it } from 'vitest';
import type { Scope } from '../../../resolvers/operation/scope.ts';
import { windowBudgets } from '../../../resolvers/operation/window-budgets.ts';
import { resetAllSpend } from '../../../resolvers/spend-resets.ts';
import { updateTeam } from '../../../resolvers/teams.ts';
import { Unavailable } from '../../../src/domain/errors.ts';
import { ZERO_USD } from '../../../src/domain/money.ts';
import { newTeam } from '../../../src/domain/teams/team.ts';
import { aCaller } from '../../support/chat.ts';
import { noSettings } from '../../support/no-settings.ts';

const ABOUT = { now: new Date(0), by: 'admin' };
const BUDGET = { limit: ZERO_USD, duration: null };

/** Operations over spend, on a platform whose records have spend, and a store of spans that never has the spans. */
const OPERATIONS: readonly (readonly [string, (scope: Scope) => Promise<unknown>])[] = [
  ['budgets of windows', ({ platform }) => windowBudgets(platform, [{ scope: 'global', ids: [], budget: BUDGET }])],
  ['a reset of all spend', (scope) => resetAllSpend(scope, undefined)],
  [
    'new windows of a team',
    (scope) =>
      updateTeam(scope, {
        id: 't',
        patch: { budgetLimits: [{ budgetDuration: '1d', maxBudget: '1' }] },
        memberLimits: {},
      }),
  ],
];

it.each(OPERATIONS)('%s waits for spend and not for spans', async (_title, run) => {
  const waits: string[] = [];
  const stop = (): never => {
    throw new Unavailable('The test ends here.');
  };
  const platform = {
    ...noSettings,
    records: {
      async spendStored() {
        waits.push('spend');
        return true;
      },
      async readable() {
        waits.push('spend and spans');
        return true;
      },
    },
    stores: {
      spend: { totalsOfOwners: stop },
      keys: { list: stop },
      teams: { find: async () => newTeam({}, { ...ABOUT, id: 't' }), change: stop },
    },
    guardrails: { list: () => [] },
    clock: { now: () => ABOUT.now },
  };
  const scope = { platform, caller: aCaller(null) } as unknown as Scope;
  await expect(run(scope)).rejects.toThrow('The test ends here.');
  expect(waits).toEqual(['spend']);
});
