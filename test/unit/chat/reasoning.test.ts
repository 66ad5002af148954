import { expect, it } from 'vitest';
import { effortOf, thoughtBudgetOf } from '../../../src/domain/chat/reasoning.ts';

const reasoning = (effort: string | null, budgetTokens: number | null) => ({ effort, budgetTokens, shown: null });

it('an effort becomes a budget, and a budget above 0 becomes the largest effort within it, at least `minimal`', () => {
  for (const effort of ['minimal', 'low', 'medium', 'high', 'xhigh']) {
    const budget = thoughtBudgetOf(reasoning(effort, null));
    expect(budget).toBeGreaterThan(0);
    expect(effortOf(reasoning(null, budget))).toBe(effort);
  }
  expect(thoughtBudgetOf(reasoning('high', 77))).toBe(77);
  expect(thoughtBudgetOf(reasoning('none', null))).toBeNull();
  expect(thoughtBudgetOf(reasoning(null, null))).toBeNull();
  expect(effortOf(reasoning('none', null))).toBe('none');
  expect(effortOf(reasoning(null, 0))).toBe('none');
  expect(effortOf(reasoning(null, 1))).toBe('minimal');
  expect(effortOf(reasoning(null, 1_000_000))).toBe('xhigh');
  expect(effortOf(reasoning(null, null))).toBeNull();
});
