import { describe, expect, it } from 'vitest';
import {
  type BudgetPatch,
  newBudget,
  copyOfSharedBudget,
  withTemporaryIncrease,
} from '../../../src/domain/budgets/budget.ts';
import type { Usd } from '../../../src/domain/money.ts';

const NOW = new Date('2026-11-24T12:00:00Z');
const usd = (amount: bigint): Usd => amount as Usd;
const budget = (patch: BudgetPatch) => newBudget(patch, { id: 'b', now: NOW, by: 'a' });

describe('the temporary increase of a budget', () => {
  const increased = (patch: BudgetPatch) => withTemporaryIncrease(budget(patch), NOW).maxBudget;
  const later = new Date(NOW.getTime() + 1);

  it.each([
    ['is added until it expires', { maxBudget: usd(3n), tempBudgetIncrease: usd(4n), tempBudgetExpiry: later }, 7n],
    ['ends at its expiry', { maxBudget: usd(3n), tempBudgetIncrease: usd(4n), tempBudgetExpiry: NOW }, 3n],
    ['has no effect without an expiry', { maxBudget: usd(3n), tempBudgetIncrease: usd(4n) }, 3n],
    ['has no effect without an amount', { maxBudget: usd(3n), tempBudgetExpiry: later }, 3n],
    ['does not limit an unlimited budget', { tempBudgetIncrease: usd(4n), tempBudgetExpiry: later }, null],
  ])('%s', (_, patch, expected) => {
    expect(increased(patch)).toBe(expected);
  });

  it('cannot be negative', () => {
    expect(() => budget({ tempBudgetIncrease: usd(-1n) })).toThrow('temp_budget_increase must be a non-negative');
  });

  it('makes a separate copy of a shared budget, with the same limits and window', () => {
    const shared = { ...budget({ maxBudget: usd(3n), budgetDuration: '1d', rpmLimit: 5 }), countsFrom: NOW };
    const patch = { tempBudgetIncrease: usd(4n), tempBudgetExpiry: later };
    expect(copyOfSharedBudget(shared, patch, { id: 'own', now: later, by: 'c' })).toEqual({
      ...shared,
      ...patch,
      id: 'own',
      createdAt: later,
      createdBy: 'c',
      updatedAt: later,
      updatedBy: 'c',
    });
  });
});
