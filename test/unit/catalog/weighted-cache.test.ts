import { expect, it } from 'vitest';
import { createWeightedCache } from '../../../src/domain/catalog/weighted-cache.ts';

it('a weighted cache keeps values up to a total weight, and evicts the oldest first', () => {
  const computed: string[] = [];
  const cache = createWeightedCache<string>(6, (value) => value.length);
  const get = (value: string): string =>
    cache.get(value, () => {
      computed.push(value);
      return value;
    });
  for (const value of ['aaa', 'bb', 'aaa', 'cc', 'bb', 'cc', 'aaa', 'too heavy', 'too heavy']) get(value);
  // `cc` evicts `aaa`, which was added first, although `aaa` was read last. Afterwards `aaa` evicts `bb`.
  expect(computed).toEqual(['aaa', 'bb', 'cc', 'aaa', 'too heavy', 'too heavy']);
});
