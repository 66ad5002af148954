import { describe, expect, it } from 'vitest';
import { withConfiguredPrices } from '../../../src/domain/deployments/priced-row.ts';

const CATALOG = {
  litellm_provider: 'gemini',
  max_tokens: 100,
  input_cost_per_token: 1,
  input_cost_per_token_above_200k_tokens: 2,
  input_cost_per_token_flex: 3,
  input_cost_per_token_above_200k_tokens_priority: 4,
  input_cost_per_token_batches: 5,
  output_cost_per_token: 6,
  output_cost_per_token_above_200k_tokens: 7,
  cache_read_input_token_cost: 8,
  cache_creation_input_token_cost_above_1hr: 9,
};

describe('configured prices', () => {
  it('replace the special prices that the catalog has of the same price, and no others', () => {
    expect(withConfiguredPrices(CATALOG, { input_cost_per_token: 10 })).toEqual({
      litellm_provider: 'gemini',
      max_tokens: 100,
      input_cost_per_token: 10,
      output_cost_per_token: 6,
      output_cost_per_token_above_200k_tokens: 7,
      cache_read_input_token_cost: 8,
      cache_creation_input_token_cost_above_1hr: 9,
    });
  });

  it('include special prices, also without a usual price', () => {
    const configured = { input_cost_per_token: 10, input_cost_per_token_flex: 11 };
    expect(withConfiguredPrices(CATALOG, configured)).toMatchObject(configured);
    expect(withConfiguredPrices(CATALOG, { input_cost_per_token_flex: 11 })).toEqual({
      ...CATALOG,
      input_cost_per_token_flex: 11,
    });
  });

  it('replace the same prices in the tiers and in the off-peak hours of the catalog', () => {
    const tiers = [{ range: [0, 10], input_cost_per_token: 1, output_cost_per_token: 2 }];
    const row = { tiered_pricing: tiers, off_peak_pricing: { windows: [], input_cost_per_token: 1 } };
    expect(withConfiguredPrices(row, { input_cost_per_token: 3 })).toEqual({
      tiered_pricing: [{ range: [0, 10], output_cost_per_token: 2 }],
      off_peak_pricing: { windows: [] },
      input_cost_per_token: 3,
    });
    expect(withConfiguredPrices(row, { tiered_pricing: [] })).toMatchObject({ tiered_pricing: [] });
  });

  it('are all prices without a row of the catalog, and none without configured prices', () => {
    expect(withConfiguredPrices(undefined, { input_cost_per_token: 1 })).toEqual({ input_cost_per_token: 1 });
    expect(withConfiguredPrices(CATALOG, {})).toBe(CATALOG);
  });
});
