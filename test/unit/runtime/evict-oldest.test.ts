import { expect, it } from 'vitest';
import { evictOldest } from '../../../src/domain/evict-oldest.ts';

it.each([
  [4, ['a', 'b', 'c']],
  [3, ['a', 'b', 'c']],
  [2, ['b', 'c']],
  [1, ['c']],
  [0, []],
])('at most %i entries remain in a map or set, the latest ones', (maxEntries, remaining) => {
  const set = new Set(['a', 'b', 'c']);
  const map = new Map([...set].map((key) => [key, 1]));
  evictOldest(set, maxEntries);
  evictOldest(map, maxEntries);
  expect([[...set], [...map.keys()]]).toEqual([remaining, remaining]);
});

it('an entry that is deleted and added again is the latest', () => {
  const map = new Map([
    ['a', 1],
    ['b', 1],
  ]);
  map.delete('a');
  map.set('a', 2);
  evictOldest(map, 1);
  expect([...map]).toEqual([['a', 2]]);
});
