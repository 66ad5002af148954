import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { budgetUse, type KeyPage, type KeyPlace, type VirtualKey } from '../../src/domain/keys/virtual-key.ts';
import type { Stores } from '../../src/persistence/stores.ts';
import { ENGINES, type ScratchDatabase } from './engines.ts';
import { aKey, aSpendRow, picos, START_MS } from './samples.ts';

const PAGE: KeyPage = {
  filter: { hash: null, alias: null, teamId: null, userId: null, blocked: null, status: null, visibleTo: null },
  now: new Date(START_MS),
  sort: 'budget_use',
  descending: true,
  limit: 10,
  from: 0,
};
const SPENT = picos(50_000_000n);

for (const engine of ENGINES)
  describe.skipIf(engine.skipReason !== null)(`keys by the use of their budgets on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let stores: Stores;
    beforeAll(async () => {
      scratch = await engine.create();
      stores = await scratch.open();
    });
    afterAll(() => scratch.remove());

    it('are listed in pages, by the spend of the current window', async () => {
      const { keys, spend } = stores;
      const maxBudget = picos(100_000_000n);
      const budgets: Readonly<Record<string, Partial<VirtualKey>>> = {
        a: { maxBudget, spentBefore: picos(40_000_000n) },
        b: { maxBudget },
        c: { maxBudget: null },
      };
      for (const [letter, budget] of Object.entries(budgets)) {
        const hash = letter.repeat(64);
        await keys.add(aKey({ hash, alias: letter, expiresAt: null, ...budget }));
        await spend.append([aSpendRow({ id: letter, keyHash: hash, cost: SPENT })]);
      }
      const letters = async (page: Partial<KeyPage>): Promise<string> =>
        (await keys.list({ ...PAGE, ...page })).map(({ alias }) => alias).join('');
      const rows = await keys.list(PAGE);
      expect(rows.map(({ alias }) => alias)).toEqual(['b', 'a', 'c']);
      const places: readonly KeyPlace[] = rows.map((row) => ({ hash: row.hash, budgetUse: budgetUse(row, SPENT) }));
      // The spend divided by a millionth of the budget plus one, in whole numbers.
      // Key b: 50,000,000 / 101. Key a: 10,000,000 / 101.
      expect(places).toMatchObject([{ budgetUse: 495_049n }, { budgetUse: 99_009n }, { budgetUse: -1n }]);
      for (const [index, from] of places.entries()) {
        expect(await letters({ from })).toBe('bac'.slice(index + 1));
        expect(await letters({ from, descending: false })).toBe(['', 'b', 'ab'][index]);
      }
    });
  });
