import { expect, it } from 'vitest';
import { byUncachedTokens, sumOfSpend, type KeySums } from '../../../src/domain/spend/daily-activity.ts';

const key = (hash: string, inputTokens: number, cacheReadTokens: number): KeySums => ({
  hash,
  sums: { ...sumOfSpend([]), inputTokens, cacheReadTokens },
});

it('keys are ordered by uncached prompt tokens, without keys that have none', () => {
  const keys = [key('d', 100, 100), key('c', 50, 10), key('a', 1_000, 990), key('b', 40, 0), key('e', 5, 9)];
  expect(byUncachedTokens(keys).map(({ hash }) => hash)).toEqual(['b', 'c', 'a']);
});
