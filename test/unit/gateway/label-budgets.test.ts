import { expect, it } from 'vitest';
import { newBudget } from '../../../src/domain/budgets/budget.ts';
import { callLabels } from '../../../src/domain/calls/call-labels.ts';
import { limitsOf } from '../../../src/domain/budgets/limits.ts';
import type { Usd } from '../../../src/domain/money.ts';
import { createLabelBudgets } from '../../../src/gateway/admission/label-budgets.ts';

const labels = callLabels({ session: null, endUser: null, tags: ['a', 'b'], metadata: {} });

it('a call has the budgets of its labels, also when the cache is evicted during the read', async () => {
  const readStarted = Promise.withResolvers<void>();
  const pendingReads: PromiseWithResolvers<void>[] = [];
  let nowMs = 0;
  const row = newBudget({ maxBudget: 5n as Usd }, { id: 'b1', now: new Date(0), by: 'admin' });
  const budgets = createLabelBudgets(
    {
      budgets: {
        async findMany() {
          const pendingRead = Promise.withResolvers<void>();
          pendingReads.push(pendingRead);
          readStarted.resolve();
          await pendingRead.promise;
          return [row];
        },
      },
      customers: { count: async () => 0, findMany: async () => [] },
      tags: {
        count: async () => 1,
        findMany: async (ids) => ids.map((id) => ({ id, budgetId: 'b1' }) as never),
      },
    },
    { of: async (_, limits) => ({ ...limitsOf(limits), spentBefore: null }) },
    { monotonicMs: () => nowMs },
  );
  const firstRead = Promise.resolve(budgets.of(labels, null));
  await readStarted.promise;
  budgets.evictAll();
  for (const pendingRead of pendingReads.splice(0)) pendingRead.resolve();
  const budgetsOfBothTags = ['a', 'b'].map((id) => ({
    scope: 'tag',
    id,
    blocked: false,
    budget: 5n,
    soft: null,
    limits: { rpmLimit: null, tpmLimit: null, maxParallelRequests: null },
    spentBefore: 0n,
    window: null,
  }));
  expect(await firstRead).toEqual(budgetsOfBothTags);
  // The first read was evicted while it was pending, so its result is not cached.
  nowMs += 1;
  const secondRead = Promise.resolve(budgets.of(labels, null));
  while (pendingReads.length === 0) await Promise.resolve();
  for (const pendingRead of pendingReads.splice(0)) pendingRead.resolve();
  expect(await secondRead).toEqual(budgetsOfBothTags);
});

it('the kinds of labels are used for a minute after a failed read, and then calls with labels are refused', async () => {
  const failure = new Error('The store is unavailable.');
  let nowMs = 0;
  let isUnavailable = false;
  const count = async (): Promise<number> => {
    if (isUnavailable) throw failure;
    return 0;
  };
  const unused = { findMany: async () => [] };
  const budgets = createLabelBudgets(
    { budgets: unused, customers: { ...unused, count }, tags: { ...unused, count } },
    { of: async (_, limits) => ({ ...limitsOf(limits), spentBefore: null }) },
    { monotonicMs: () => nowMs },
  );
  expect(await budgets.of(labels, null)).toEqual([]);
  isUnavailable = true;
  nowMs = 60_000;
  expect(await budgets.of(labels, null)).toEqual([]);
  nowMs = 60_001;
  await expect(budgets.of(labels, null)).rejects.toBe(failure);
});
