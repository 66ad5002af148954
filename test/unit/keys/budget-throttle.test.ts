import { describe, expect, it } from 'vitest';
import {
  throttledLimit,
  throttleOf,
  throttleFractionOf,
  withoutBudget,
} from '../../../src/domain/keys/budget-throttle.ts';
import type { Usd } from '../../../src/domain/money.ts';
import { createBudgets } from '../../../src/gateway/admission/budgets.ts';
import { batchScopesOf, rateScopesOf } from '../../../src/gateway/admission/rate-limits.ts';
import { anAdmission } from '../../support/admission.ts';
import { aCaller, aDeployment, aKey } from '../../support/chat.ts';
import { someOwners } from '../../support/key-owners.ts';

const throttleOn = { throttle_on_budget_exceeded: true };

describe('the limits of a key beyond its budget', () => {
  it.each([
    [1000, 0.1, 100],
    [100, 0.1, 10],
    [50, 0.5, 25],
    [19, 0.1, 1],
    [1, 0.1, 1],
    [0, 1, 1],
    [7, 1, 7],
  ])('are lowered from %i by the factor %d to %i, at least 1', (limit, factor, expected) => {
    expect(throttledLimit(limit, factor)).toBe(expected);
  });

  it.each([
    [1, 1],
    [0.000_1, 0.000_1],
    ['0.25', 0.25],
    [0, null],
    [-0.1, null],
    [1.5, null],
    [Number.NaN, null],
    [true, null],
    ['', null],
    ['half', null],
    [null, null],
    [undefined, null],
  ])('are lowered by the factor of the setting %s: %s', (value, factor) => {
    expect(throttleFractionOf(value)).toBe(factor);
  });

  it('are lowered for keys that enable the throttle and have their own limit of requests or tokens', () => {
    const factorOf = (metadata: object, settings: object, factor: number | null = 0.1): number | null =>
      throttleOf(aKey({ metadata: { ...metadata }, settings }), factor);
    expect(factorOf(throttleOn, { rpmLimit: 5 })).toBe(0.1);
    expect(factorOf(throttleOn, { tpmLimit: 5 })).toBe(0.1);
    expect(factorOf(throttleOn, { rpmLimit: 5 }, null)).toBeNull();
    expect(factorOf(throttleOn, { maxParallelRequests: 5 })).toBeNull();
    expect(factorOf({}, { rpmLimit: 5 })).toBeNull();
    expect(factorOf({ throttle_on_budget_exceeded: 'true' }, { rpmLimit: 5 })).toBeNull();
    expect(throttleOf(aKey({ metadata: throttleOn, owners: someOwners({ team: { rpmLimit: 5 } }) }), 0.1)).toBeNull();
  });

  it('are lowered for requests and tokens of the key only', () => {
    const limits = { rpmLimit: 30, tpmLimit: 300, maxParallelRequests: 3 };
    const key = aKey({ userId: 'u', settings: limits, owners: someOwners({ user: limits }) });
    expect(rateScopesOf(key, 'm', { tags: [], labels: [], limitFraction: 0.5 })).toEqual([
      { scope: 'api_key', id: key.hash, requests: 15, tokens: 150, parallel: 3 },
      { scope: 'user', id: 'u', requests: 30, tokens: 300, parallel: 3 },
    ]);
    expect(
      rateScopesOf(aKey({ settings: { rpmLimit: 30 } }), 'm', { tags: [], labels: [], limitFraction: 0.5 }),
    ).toEqual([{ scope: 'api_key', id: key.hash, requests: 15 }]);
  });

  it('are lowered for a batch', () => {
    const key = aKey({ settings: { rpmLimit: 30 } });
    const calls = { m: { requests: 4, tokens: 9 } };
    expect(batchScopesOf(key, calls, { tags: [], labels: [], limitFraction: 0.1 })).toEqual([
      { scope: 'api_key', id: key.hash, requests: 3, amounts: { requests: 4, tokens: 9 } },
    ]);
  });

  it('replace the budget in checks and reservations; costs still count for the key', async () => {
    const admission = anAdmission();
    const budgets = createBudgets({
      admission,
      expectations: { of: () => ({ cost: 3n as Usd, learn: () => {} }) },
      isFree: ({ upstreamModel }) => upstreamModel === 'free',
      errorKind: 'unprocessable',
      throttleFraction: () => 0.1,
    });
    const key = aKey({ maxBudget: 5n as Usd, metadata: throttleOn, settings: { rpmLimit: 10 } });
    const caller = aCaller(key);
    const call = { deployment: aDeployment(), request: null };
    const factors: number[] = [];
    const throttle = (factor: number): void => void factors.push(factor);
    const withinBudget = await budgets.reserve(caller, call, undefined, throttle);
    expect(factors).toEqual([]);
    withinBudget?.settle(5n as Usd);
    await budgets.check(caller, undefined, undefined, throttle);
    const beyondBudget = await budgets.reserve(caller, call, undefined, throttle);
    expect(factors).toEqual([0.1, 0.1]);
    beyondBudget?.settle(2n as Usd);
    expect(admission.usedOf(`key:${key.hash}`)).toBe(7n);
    // Free models ignore the budget.
    const free = { ...call, deployment: { ...aDeployment(), upstreamModel: 'free' } };
    expect(await budgets.reserve(caller, free, undefined, throttle)).toBeNull();
    expect(factors).toHaveLength(2);
    const withoutThrottle = aCaller(aKey({ ...key, metadata: {} }));
    expect(() => budgets.check(withoutThrottle)).toThrow('Budget has been exceeded! Key=');
  });

  it('do not replace the budget windows of the key', () => {
    const budgetLimits = [{ budgetDuration: '1d', maxBudget: '1', resetAt: '2999-01-01T00:00:00Z', spentBefore: '0' }];
    const key = aKey({ maxBudget: 5n as Usd, settings: { budgetLimits } });
    expect(withoutBudget(key)).toEqual({ ...key, maxBudget: null });
  });
});
