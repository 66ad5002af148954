import { describe, expect, it } from 'vitest';
import {
  byLevels,
  lowestFirst,
  lowestLatencyFirst,
  shuffled,
  weightedOrder,
} from '../../../src/domain/routing/strategies.ts';

/** Repeatable random numbers from 0 to 1 (a linear congruential generator). */
function seededRandom(seed = 1): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

interface Item {
  readonly id: string;
  readonly weight?: number;
  readonly rpm?: number;
  readonly tpm?: number;
  readonly order?: number;
}

const METRICS = [
  ({ weight = 0 }: Item): number => weight,
  ({ rpm = 0 }: Item): number => rpm,
  ({ tpm = 0 }: Item): number => tpm,
];

/** Counts how often each item is first. */
function countFirst(rank: () => readonly { readonly id: string }[], selections = 10_000): Record<string, number> {
  const counts: Record<string, number> = {};
  for (let nth = 0; nth < selections; nth += 1) {
    const id = rank()[0]?.id ?? 'none';
    counts[id] = (counts[id] ?? 0) + 1;
  }
  return counts;
}

describe('the weighted order of simple-shuffle', () => {
  it('is proportional to the weights, and ignores rpm and tpm', () => {
    const items = [
      { id: 'a', weight: 3, rpm: 1 },
      { id: 'b', weight: 1, rpm: 99 },
      { id: 'c', rpm: 99, tpm: 99 },
    ];
    const random = seededRandom();
    const counts = countFirst(() => weightedOrder(items, METRICS, random));
    expect(Object.keys(counts).toSorted()).toEqual(['a', 'b']);
    expect(Math.abs((counts['a'] ?? 0) - 7_500)).toBeLessThan(150);
  });

  it('uses rpm if no item has a weight, and tpm if no item has rpm', () => {
    const byRpm = [
      { id: 'a', rpm: 1, weight: 0 },
      { id: 'b', rpm: 9, tpm: 1 },
      { id: 'c', tpm: 1_000 },
    ];
    const byTpm = [{ id: 'a', tpm: 2 }, { id: 'b', tpm: 8 }, { id: 'c' }];
    const random = seededRandom();
    const counts = [byRpm, byTpm].map((items) => countFirst(() => weightedOrder(items, METRICS, random)));
    expect(counts.map((count) => Object.keys(count).toSorted())).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ]);
    expect(Math.abs((counts[0]?.['b'] ?? 0) - 9_000)).toBeLessThan(150);
    expect(Math.abs((counts[1]?.['b'] ?? 0) - 8_000)).toBeLessThan(150);
  });

  it('is random with equal chances if no item has a value', () => {
    const random = seededRandom();
    const counts = countFirst(() => weightedOrder([{ id: 'a' }, { id: 'b' }], METRICS, random));
    expect(Math.abs((counts['a'] ?? 0) - 5_000)).toBeLessThan(150);
  });

  it('has items without a weight last, in the order of the next metric', () => {
    const items = [{ id: 'none' }, { id: 'rpm', rpm: 5 }, { id: 'weight', weight: 0.5 }];
    const orders = new Set(
      Array.from({ length: 50 }, (_empty, seed) =>
        weightedOrder(items, METRICS, seededRandom(seed))
          .map(({ id }) => id)
          .join(),
      ),
    );
    expect([...orders]).toEqual(['weight,rpm,none']);
  });
});

describe('the order by lowest value', () => {
  it('ascends, and is random for equal values', () => {
    const items = [
      { id: 'a', tpm: 5 },
      { id: 'b', tpm: 0 },
      { id: 'c', tpm: 0 },
    ];
    const random = seededRandom();
    const counts = countFirst(() => lowestFirst(items, ({ tpm }) => tpm, random));
    expect(Object.keys(counts).toSorted()).toEqual(['b', 'c']);
    expect(Math.abs((counts['b'] ?? 0) - 5_000)).toBeLessThan(150);
    expect(lowestFirst(items, ({ tpm }) => BigInt(-tpm), random)[0]?.id).toBe('a');
  });

  it('of latencies is random within the buffer', () => {
    const items = [
      { id: 'a', tpm: 100 },
      { id: 'b', tpm: 110 },
      { id: 'c', tpm: 111 },
      { id: 'd', tpm: 900 },
    ];
    const random = seededRandom();
    const near = (buffer: number) =>
      Object.keys(countFirst(() => lowestLatencyFirst(items, ({ tpm }) => tpm, { buffer, random }), 1_000)).toSorted();
    expect([near(0), near(0.1), near(10)]).toEqual([['a'], ['a', 'b'], ['a', 'b', 'c', 'd']]);
    const order = lowestLatencyFirst(items, ({ tpm }) => tpm, { buffer: 0, random });
    expect(order.map(({ id }) => id)).toEqual(['a', 'b', 'c', 'd']);
  });
});

it('byLevels orders by level, then within a level; items without a level come last', () => {
  const items: readonly Item[] = [
    { id: 'none' },
    { id: 'two', order: 2 },
    { id: 'one-b', order: 1 },
    { id: 'one-a', order: 1 },
  ];
  const ids = byLevels(
    items,
    ({ order }) => order,
    (level) => level.toSorted((left, right) => (left.id < right.id ? -1 : 1)),
  ).map(({ id }) => id);
  expect(ids).toEqual(['one-a', 'one-b', 'two', 'none']);
});

it('a shuffle keeps every item', () => {
  const random = seededRandom();
  expect(new Set(shuffled([1, 2, 3, 4], random))).toEqual(new Set([1, 2, 3, 4]));
  expect(shuffled([], random)).toEqual([]);
});
