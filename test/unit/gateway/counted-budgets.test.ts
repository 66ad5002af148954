import { expect, it } from 'vitest';
import { newBudget } from '../../../src/domain/budgets/budget.ts';
import type { Usd } from '../../../src/domain/money.ts';
import type { SpendGroup } from '../../../src/domain/spend/spend-reports.ts';
import { createCountedBudgets } from '../../../src/gateway/admission/counted-budgets.ts';

const DAY_MS = 86_400_000;

it('the spend before a window is read after answered calls are recorded', async () => {
  const draft = { maxBudget: 5n as Usd, budgetDuration: '1d' };
  const row = newBudget(draft, { id: 'b1', now: new Date(0), by: 'admin' });
  let stored = 0n;
  const recordWaits: PromiseWithResolvers<void>[] = [];
  const counted = createCountedBudgets(
    { groups: async () => [{ cost: stored as Usd } as SpendGroup] },
    { now: () => new Date(DAY_MS + 5), monotonicMs: () => 0 },
    () => {
      const recorded = Promise.withResolvers<void>();
      recordWaits.push(recorded);
      return recorded.promise;
    },
  );
  const reading = counted.of({ kind: 'key', id: 'hash' }, row);
  stored = 2n;
  for (const recorded of recordWaits) recorded.resolve();
  expect((await reading).spentBefore).toBe(2n);
  expect(recordWaits).toHaveLength(1);
});

it('a failed read of the spend is repeated by the next call, and a successful read is not', async () => {
  const row = newBudget({ maxBudget: 5n as Usd, budgetDuration: '1d' }, { id: 'b1', now: new Date(0), by: 'admin' });
  let reads = 0;
  const counted = createCountedBudgets(
    {
      async groups() {
        reads += 1;
        if (reads === 1) throw new Error('the database is unavailable');
        return [{ cost: 3n as Usd } as SpendGroup];
      },
    },
    { now: () => new Date(DAY_MS + 5), monotonicMs: () => 0 },
    () => Promise.resolve(),
  );
  await expect(counted.of({ kind: 'key', id: 'hash' }, row)).rejects.toThrow('the database is unavailable');
  expect((await counted.of({ kind: 'key', id: 'hash' }, row)).spentBefore).toBe(3n);
  expect((await counted.of({ kind: 'key', id: 'hash' }, row)).spentBefore).toBe(3n);
  expect(reads).toBe(2);
});
