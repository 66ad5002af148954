import { describe, expect, it } from 'vitest';
import { countStart, newBudget, patchedBudget, withCurrentWindow } from '../../../src/domain/budgets/budget.ts';

const utc = (text: string): Date => new Date(`${text}Z`);
const changedAt = (now: string) => ({ now: utc(now), by: 'admin' });
const monthly = () => newBudget({ budgetDuration: '30d' }, { ...changedAt('2026-01-01T10:00:00'), id: 'b' });

describe('the window of a budget row', () => {
  it('counts all spend in the first window', () => {
    const budget = monthly();
    expect([countStart(budget, utc('2026-01-02T00:00:00')), budget.countsFrom]).toEqual([null, null]);
    expect(withCurrentWindow(budget, utc('2026-01-02T00:00:00'))).toBe(budget);
  });

  it('counts from the end of the previous window, also when several windows have passed', () => {
    const budget = monthly();
    const end = budget.budgetResetAt as Date;
    const [second, third] = [new Date(end.getTime() + 1), new Date(end.getTime() + 31 * 86_400_000)];
    expect(countStart(budget, second)).toEqual(end);
    const moved = withCurrentWindow(budget, third);
    expect(moved.countsFrom?.getTime()).toBeGreaterThan(end.getTime());
    expect(moved.budgetResetAt?.getTime()).toBeGreaterThan(third.getTime());
    expect(countStart(moved, third)).toEqual(countStart(budget, third));
    expect(withCurrentWindow(moved, third)).toBe(moved);
  });

  it('keeps its start when the duration is changed or removed, and is not moved by a new amount', () => {
    const budget = monthly();
    const end = budget.budgetResetAt as Date;
    const now = new Date(end.getTime() + 60_000);
    for (const budgetDuration of ['7d', null])
      expect(patchedBudget(budget, { budgetDuration }, { now, by: 'admin' }).countsFrom).toEqual(end);
    expect(patchedBudget(budget, { maxBudget: null }, { now, by: 'admin' })).toMatchObject({
      countsFrom: null,
      budgetResetAt: end,
    });
  });
});
