import { expect, it } from 'vitest';
import { createWeightedCache } from '../../../src/domain/catalog/weighted-cache.ts';

it('keeps values until they weigh too much together, and lets the oldest go first', () => {
  const made: string[] = [];
  const recent = createWeightedCache<string>(6, (value) => value.length);
  const get = (value: string): string =>
    recent.get(value, () => {
      made.push(value);
      return value;
    });
  for (const value of ['aaa', 'bb', 'aaa', 'cc', 'bb', 'cc', 'aaa', 'too heavy', 'too heavy']) get(value);
  expect(made).toEqual(['aaa', 'bb', 'cc', 'aaa', 'too heavy', 'too heavy']);
});
