import { describe, expect, it } from 'vitest';
import type { TokenPrices } from '../../../src/domain/catalog/catalog.ts';
import { batchRowOf, type PriceRow, readTariff, tierFor, tokenPricesOf } from '../../../src/domain/catalog/prices.ts';
import { rateFrom } from '../../../src/domain/money.ts';

const NO_PRICES: TokenPrices = { input: null, output: null, cacheRead: null, cacheWrite: null, reasoning: null };
/** Token prices from numbers in USD per million tokens. */
const prices = (perMillion: Partial<Record<keyof TokenPrices, number>>): TokenPrices => ({
  ...NO_PRICES,
  ...Object.fromEntries(Object.entries(perMillion).map(([kind, price]) => [kind, rateFrom(`${price}e-6`)])),
});

describe('the price of a token', () => {
  it('is read exactly, in attodollars', () => {
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
  it('is read from the older key for cached input, where only the older key exists', () => {
    const older = { input_cost_per_token: 3e-7, input_cost_per_token_cache_hit: 6e-9 };
    expect(tokenPricesOf(older)).toEqual(prices({ input: 0.3, cacheRead: 0.006 }));
    expect(tokenPricesOf({ ...older, cache_read_input_token_cost: 7e-9 }).cacheRead).toBe(rateFrom(7e-9));
  });
  it('is null for a cache write where the map has zero, unless the price of input is zero', () => {
    expect(tokenPricesOf({ input_cost_per_token: 3e-7, cache_creation_input_token_cost: 0 }).cacheWrite).toBeNull();
    expect(tokenPricesOf({ input_cost_per_token: 0, cache_creation_input_token_cost: 0 }).cacheWrite).toBe(0n);
  });
});

describe('the tariff of a row', () => {
  it.each([
    ['no prices', { mode: 'chat' }],
    ['a price per second only', { output_cost_per_second: 0.01 }],
    [
      'steps that cannot be read',
      { tiered_pricing: [null, 7, { range: 'all', input_cost_per_token: 1 }, { range: [] }] },
    ],
    ['steps that are no list', { tiered_pricing: { input_cost_per_token: 1 } }],
  ])('is null with %s', (_case, row: PriceRow) => {
    expect(readTariff(row)).toBeNull();
  });

  it('has the tiers of keys with bounds, the highest first, with base prices for absent keys', () => {
    const tariff = readTariff({
      input_cost_per_token: 1e-6,
      output_cost_per_token: 2e-6,
      input_cost_per_token_above_128k_tokens: 3e-6,
      output_cost_per_token_above_1000k_tokens: 5e-6,
      input_cost_per_token_above_200k_tokens_priority: 9e-6,
      output_cost_per_token_above_256k_tokens: null,
    });
    // A priority price and a price of null add no tier.
    expect(tariff).toEqual({
      base: prices({ input: 1, output: 2 }),
      tiers: [
        { above: 1_000_000, prices: prices({ input: 1, output: 5 }) },
        { above: 128_000, prices: prices({ input: 3, output: 2 }) },
      ],
      boundIncluded: false,
      perRequest: null,
      pricedUpTo: null,
    });
  });

  it('has the tiers of a list of steps, in any order', () => {
    const tariff = readTariff({
      output_cost_per_reasoning_token: 9e-6,
      tiered_pricing: [
        { range: [32_000, 128_000], input_cost_per_token: 3e-6, output_cost_per_token: 4e-6 },
        { range: [0, 32_000], input_cost_per_token: 1e-6, output_cost_per_token: 2e-6 },
      ],
    });
    expect(tariff).toEqual({
      base: prices({ input: 1, output: 2, reasoning: 9 }),
      tiers: [{ above: 32_000, prices: prices({ input: 3, output: 4, reasoning: 9 }) }],
      boundIncluded: false,
      perRequest: null,
      pricedUpTo: 128_000,
    });
  });

  it('uses a flat price in place of the first step', () => {
    const tariff = readTariff({
      input_cost_per_token: 7e-6,
      tiered_pricing: [
        { range: [0, 10], input_cost_per_token: 1e-6, output_cost_per_token: 2e-6 },
        { range: [10, 20], input_cost_per_token: 3e-6, output_cost_per_token: 4e-6 },
      ],
    });
    expect([tariff?.base, tariff?.tiers]).toEqual([
      prices({ input: 7, output: 2 }),
      [{ above: 10, prices: prices({ input: 3, output: 4 }) }],
    ]);
  });

  it('selects a tier by the input tokens of a request; a bound belongs to the tier below it', () => {
    const tariff = readTariff({
      input_cost_per_token: 1e-6,
      input_cost_per_token_above_128k_tokens: 2e-6,
      input_cost_per_token_above_200k_tokens: 3e-6,
    });
    const bounds = [0, 128_000, 128_001, 200_000, 200_001, 9_000_000].map((tokens) =>
      tariff ? (tierFor(tariff, tokens)?.above ?? 0) : null,
    );
    expect(bounds).toEqual([0, 0, 128_000, 128_000, 200_000, 200_000]);
  });

  it('includes the bound in the higher tier for a row of xAI', () => {
    const row = { input_cost_per_token: 1e-6, input_cost_per_token_above_128k_tokens: 2e-6 };
    const above = (provider: string, tokens: number) => {
      const tariff = readTariff({ ...row, litellm_provider: provider });
      return tariff && tierFor(tariff, tokens)?.above;
    };
    expect([above('xai', 127_999), above('xai', 128_000), above('openai', 128_000)]).toEqual([
      undefined,
      128_000,
      undefined,
    ]);
  });
});

it('a batch tariff has the batch prices of each tier, and standard prices where a batch price is missing', () => {
  const row = {
    input_cost_per_token: 2e-6,
    input_cost_per_token_batches: 1e-6,
    output_cost_per_token: 8e-6,
    output_cost_per_token_batches: 'soon',
    input_cost_per_token_above_200k_tokens: 4e-6,
    output_cost_per_token_above_200k_tokens: 9e-6,
    output_cost_per_token_above_200k_tokens_batches: 5e-6,
  };
  expect(readTariff(batchRowOf(row))).toEqual({
    base: prices({ input: 1, output: 8 }),
    tiers: [{ above: 200_000, prices: prices({ input: 4, output: 5 }) }],
    boundIncluded: false,
    perRequest: null,
    pricedUpTo: null,
  });
});
