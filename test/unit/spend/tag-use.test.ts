import { describe, expect, it } from 'vitest';
import type { Usd } from '../../../src/domain/money.ts';
import type { SpendGroup } from '../../../src/domain/spend/spend-reports.ts';
import { sumsByTag, sumsByUser, usersByTag, windowsUntil } from '../../../src/domain/spend/tag-use.ts';

const DAY = 86_400_000;
const TODAY = Date.UTC(2026, 10, 22);

const aGroup = (tag: string, user: string | null, fields: Partial<SpendGroup> = {}): SpendGroup => ({
  values: { tag, user },
  startMs: TODAY,
  lastMs: TODAY,
  calls: 1,
  failures: 0,
  inputTokens: 1,
  outputTokens: 1,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  cost: 1n as Usd,
  successMs: 1,
  ...fields,
});

describe('windows of days', () => {
  const now = new Date(TODAY + DAY - 1);

  it('end with tomorrow and have no gaps', () => {
    expect(windowsUntil(now, { days: 30, count: 2 })).toEqual([
      { from: TODAY - 58 * DAY, to: TODAY - 28 * DAY },
      { from: TODAY - 28 * DAY, to: TODAY + 2 * DAY },
    ]);
  });

  it('count each user of a window once', () => {
    // Window 1 begins five days before today.
    const windows = windowsUntil(now, { days: 7, count: 2 });
    const groups = [
      aGroup('User-Agent: a', 'one'),
      aGroup('User-Agent: a', 'one', { startMs: TODAY - DAY }),
      aGroup('User-Agent: a', 'two', { startMs: TODAY - 5 * DAY }),
      aGroup('User-Agent: a', 'two', { startMs: TODAY - 6 * DAY }),
      aGroup('User-Agent: a', 'three', { startMs: TODAY - 20 * DAY }),
      aGroup('User-Agent: a', null),
      aGroup('red', 'one'),
    ];
    expect(usersByTag(groups, windows, null)).toEqual([
      { tag: 'User-Agent: a', users: 2, window: 1 },
      { tag: 'User-Agent: a', users: 1, window: 0 },
    ]);
    expect(usersByTag(groups, windows, ['red'])).toContainEqual({ tag: 'red', users: 1, window: 1 });
  });
});

it('sums by tag count users, and include calls without a user', () => {
  const groups = [aGroup('a', 'one'), aGroup('a', null, { calls: 5 }), aGroup('b', 'two', { calls: 9 })];
  expect(sumsByTag(groups).map(({ tag, users, sums }) => [tag, users, sums.calls])).toEqual([
    ['b', 1, 9],
    ['a', 1, 6],
  ]);
});

it('sums by user count each call once, with the client of most calls', () => {
  const groups = [
    aGroup('User-Agent: curl', 'one', { calls: 2 }),
    aGroup('User-Agent: curl/8', 'one', { calls: 2 }),
    aGroup('User-Agent: node', 'one', { calls: 3 }),
    aGroup('red', 'one', { calls: 9 }),
    aGroup('User-Agent: node', null, { calls: 9 }),
  ];
  // Calls of curl have two tags, with and without the version. Tags of other kinds are not counted.
  const [user, ...others] = sumsByUser(groups, null);
  expect([user?.userId, user?.client, user?.sums.calls, others]).toEqual(['one', 'User-Agent: node', 5, []]);
});
