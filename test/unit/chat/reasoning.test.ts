import { expect, it } from 'vitest';
import { effortOf, thoughtBudgetOf } from '../../../src/domain/chat/reasoning.ts';

const asked = (effort: string | null, budgetTokens: number | null) => ({ effort, budgetTokens, shown: null });

it('an effort becomes a budget, and a budget the largest effort that fits', () => {
  for (const effort of ['minimal', 'low', 'medium', 'high', 'xhigh']) {
    const budget = thoughtBudgetOf(asked(effort, null));
    expect(budget).toBeGreaterThan(0);
    expect(effortOf(asked(null, budget))).toBe(effort);
  }
  expect(thoughtBudgetOf(asked('high', 77))).toBe(77);
  expect(thoughtBudgetOf(asked('none', null))).toBeNull();
  expect(thoughtBudgetOf(asked(null, null))).toBeNull();
  expect(effortOf(asked('none', null))).toBe('none');
  expect(effortOf(asked(null, 0))).toBe('none');
  expect(effortOf(asked(null, 1))).toBe('minimal');
  expect(effortOf(asked(null, 1_000_000))).toBe('xhigh');
  expect(effortOf(asked(null, null))).toBeNull();
});
