import { describe, expect, it } from 'vitest';
import { isPriceField, ownPrices } from '../../../src/domain/deployments/price-fields.ts';

describe('own prices of a deployment', () => {
  it('come from its parameters and its model info; parameters take precedence', () => {
    expect(
      ownPrices(
        { model: 'x', input_cost_per_token: 1, output_cost_per_token: null },
        { input_cost_per_token: 2, output_cost_per_token: 3, mode: 'chat' },
      ),
    ).toEqual({ input_cost_per_token: 1, output_cost_per_token: 3 });
  });

  it('exclude prices of a model info with a member `key`: such a model info is a copy of an answer', () => {
    const echo = { key: 'gpt-4o', input_cost_per_token: 2, output_cost_per_token: 3 };
    expect(ownPrices({ model: 'x' }, echo)).toEqual({});
    expect(ownPrices({ model: 'x', output_cost_per_token: 4 }, echo)).toEqual({ output_cost_per_token: 4 });
    expect(ownPrices({ model: 'x' }, { ...echo, key: null })).toEqual({});
  });
});

it.each([
  ['input_cost_per_token', true],
  ['input_cost_per_token_above_200k_tokens', true],
  ['output_cost_per_token_above_128k_tokens_batches', true],
  ['cache_read_input_token_cost', true],
  ['tiered_pricing', true],
  ['output_vector_size', false],
  ['max_input_tokens', false],
  ['costly', false],
])('%s is a price: %s', (name, expected) => {
  expect(isPriceField(name)).toBe(expected);
});
