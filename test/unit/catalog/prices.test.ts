import { expect, it } from 'vitest';
import { tokenPricesOf } from '../../../src/domain/catalog/prices.ts';

it('reads token prices exactly, in attodollars', () => {
  const row = {
    input_cost_per_token: 2.5e-6,
    output_cost_per_token: 0,
    cache_read_input_token_cost: '3e-8',
    cache_creation_input_token_cost: 1.25e-7,
  };
  expect(tokenPricesOf(row)).toEqual({
    input: 2_500_000_000_000n,
    output: 0n,
    cacheRead: 30_000_000_000n,
    cacheWrite: 125_000_000_000n,
    reasoning: null,
  });
});
