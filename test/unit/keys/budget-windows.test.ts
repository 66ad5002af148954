import { describe, expect, it } from 'vitest';
import { InvalidInput } from '../../../src/domain/errors.ts';
import {
  currentBudgetOf,
  nextReset,
  windowLimit,
  keyWindowsOf,
  withResets,
} from '../../../src/domain/keys/budget-windows.ts';
import { windowEnd } from '../../../src/domain/keys/durations.ts';
import type { Usd } from '../../../src/domain/money.ts';
import { aKey } from '../../support/chat.ts';

const usd = (dollars: number): Usd => BigInt(Math.round(dollars * 1e12)) as Usd;

describe('the end of a budget window', () => {
  it.each([
    ['1d', '2026-11-22T22:13:00Z', '2026-11-23T00:00:00Z'],
    ['24h', '2026-11-22T22:13:00Z', '2026-11-23T00:00:00Z'],
    // 22 November 2026 is a Sunday. A week ends at the start of a Monday.
    ['7d', '2026-11-22T22:13:00Z', '2026-11-23T00:00:00Z'],
    ['1w', '2026-11-23T00:00:00Z', '2026-11-30T00:00:00Z'],
    ['2w', '2026-11-22T22:13:00Z', '2026-12-06T00:00:00Z'],
    ['30d', '2026-11-22T22:13:00Z', '2026-12-01T00:00:00Z'],
    ['1mo', '2026-12-31T23:59:59Z', '2027-01-01T00:00:00Z'],
    ['3mo', '2026-11-22T22:13:00Z', '2027-02-01T00:00:00Z'],
    ['10d', '2026-11-22T22:13:00Z', '2026-12-02T00:00:00Z'],
    ['5h', '2026-11-22T13:20:00Z', '2026-11-22T15:00:00Z'],
    ['5h', '2026-11-22T15:00:00Z', '2026-11-22T20:00:00Z'],
    ['5h', '2026-11-22T23:00:00Z', '2026-11-23T01:00:00Z'],
    ['15m', '2026-11-22T13:20:00Z', '2026-11-22T13:30:00Z'],
    ['30s', '2026-11-22T13:20:31Z', '2026-11-22T13:21:00Z'],
  ])('for %s at %s is %s', (duration, now, end) => {
    expect(windowEnd(duration, new Date(now))).toEqual(new Date(end));
  });

  it.each(['', 'xyz', '0d', '1y', '-1d', '999999999mo'])('is refused for %j', (duration) => {
    expect(() => windowEnd(duration, new Date(0))).toThrow(InvalidInput);
  });

  it('is always later than now, and the same for the last instant of the window', () => {
    // Other numbers of days, such as 10d, count from the day of the request: their windows have no fixed end.
    for (const duration of ['1d', '7d', '30d', '1mo', '6h', '15m', '30s'])
      for (let minute = 0; minute < 60 * 24 * 40; minute += 977) {
        const now = new Date(Date.UTC(2026, 0, 1) + minute * 60_000);
        const end = windowEnd(duration, now);
        expect(end.getTime()).toBeGreaterThan(now.getTime());
        expect(windowEnd(duration, new Date(end.getTime() - 1))).toEqual(end);
      }
  });
});

describe('the windows of a key', () => {
  const now = new Date('2026-11-22T12:00:00Z');
  const later = new Date('2026-11-23T00:00:01Z');
  const budgetLimits = [
    { budgetDuration: '1d', maxBudget: '1' },
    { budgetDuration: '30d', maxBudget: '10' },
  ];

  it('begin with the spend before their start, and continue when only their budget changes', () => {
    const windows = keyWindowsOf(budgetLimits, { now, total: usd(4), before: [] });
    expect(windows.map(windowLimit)).toEqual([usd(5), usd(14)]);
    const nextWindows = keyWindowsOf([{ budgetDuration: '1d', maxBudget: '3' }], {
      now: later,
      total: usd(9),
      before: windows,
    });
    expect(nextWindows).toEqual([{ ...windows[0], maxBudget: '3' }]);
  });

  it('restart separately, each at its own end', () => {
    const key = aKey({
      budgetDuration: '1mo',
      budgetResetAt: new Date('2026-12-01T00:00:00Z'),
      settings: { budgetLimits: keyWindowsOf(budgetLimits, { now, total: usd(0), before: [] }) },
    });
    expect(nextReset(key)).toEqual(new Date('2026-11-23T00:00:00Z'));
    const reset = withResets(key, later, usd(7));
    expect(reset.settings.budgetLimits).toEqual([
      { budgetDuration: '1d', maxBudget: '1', resetAt: '2026-11-24T00:00:00.000Z', spentBefore: '7' },
      key.settings.budgetLimits?.[1],
    ]);
    expect([reset.spentBefore, reset.budgetResetAt]).toEqual([0n, key.budgetResetAt]);
    const month = withResets(reset, new Date('2026-12-01T00:00:00Z'), usd(8));
    expect([month.spentBefore, month.budgetResetAt]).toEqual([usd(8), new Date('2027-01-01T00:00:00Z')]);
  });
});

describe('a temporary increase', () => {
  it('applies until its expiry', () => {
    const key = aKey({
      maxBudget: usd(10),
      metadata: { temp_budget_increase: 5, temp_budget_expiry: '2026-11-22T12:00:00Z' },
    });
    expect(currentBudgetOf(key, new Date('2026-11-22T11:59:59Z'))).toBe(usd(15));
    expect(currentBudgetOf(key, new Date('2026-11-22T12:00:00Z'))).toBe(usd(10));
  });
});
