import { describe, expect, it } from 'vitest';
import type { CatalogEntry, CatalogSnapshot } from '../../../src/domain/catalog/catalog.ts';
import type { Usage } from '../../../src/domain/chat/chat.ts';
import type { Deployment } from '../../../src/domain/chat/provider.ts';
import { type Usd, usdFrom, usdText } from '../../../src/domain/money.ts';
import { tariffOf } from '../../../src/gateway/accounting/deployment-prices.ts';
import { costOf, createPricer } from '../../../src/gateway/accounting/price.ts';
import { aDeployment } from '../../support/chat.ts';

type Rows = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

function catalogOf(rows: Rows): CatalogSnapshot {
  const entries: readonly CatalogEntry[] = Object.entries(rows).map(([id, row]) => ({
    id,
    provider: null,
    mode: 'chat',
    row,
  }));
  return {
    id: 'test',
    takenAt: new Date(0),
    source: 'embedded',
    entries,
    find: (id) => entries.find((entry) => entry.id === id) ?? null,
  };
}

const usage = (used: Partial<Usage>): Usage => ({
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  ...used,
});

/** Cost of a call as text, with this row for the upstream model in the catalog. */
function cost(row: Readonly<Record<string, unknown>>, used: Partial<Usage>, overrides: Partial<Deployment> = {}) {
  const tariff = tariffOf(aDeployment(overrides), catalogOf({ 'up-1': row }));
  const priced = tariff === null ? null : costOf(tariff, usage(used));
  return priced === null ? null : usdText(priced);
}

const PLAIN = { input_cost_per_token: 2e-6, output_cost_per_token: 10e-6 };
const RICH = {
  ...PLAIN,
  cache_read_input_token_cost: 0.5e-6,
  cache_creation_input_token_cost: 2.5e-6,
  output_cost_per_reasoning_token: 20e-6,
};

describe('the cost of a call', () => {
  it.each([
    ['plain tokens', PLAIN, { inputTokens: 1000, outputTokens: 100 }, '0.003'],
    ['nothing used', PLAIN, {}, '0'],
    ['cached input once, at its rate', RICH, { inputTokens: 1000, cacheReadTokens: 600 }, '0.0011'],
    ['cached input at the input rate where it has none', PLAIN, { inputTokens: 1000, cacheReadTokens: 600 }, '0.002'],
    ['cache writes', RICH, { inputTokens: 1000, cacheWriteTokens: 400 }, '0.0022'],
    [
      'cache writes at the input rate where they have none',
      PLAIN,
      { inputTokens: 1000, cacheWriteTokens: 400 },
      '0.002',
    ],
    ['reasoning inside the output', RICH, { outputTokens: 100, reasoningTokens: 60 }, '0.0016'],
    ['reasoning at the output rate where it has none', PLAIN, { outputTokens: 100, reasoningTokens: 60 }, '0.001'],
    ['more cached tokens than input, all at the cache rate', RICH, { inputTokens: 10, cacheReadTokens: 20 }, '0.00001'],
    ['more reasoning than output, at most all output', RICH, { outputTokens: 10, reasoningTokens: 20 }, '0.0002'],
    ['a fee per request on top', { ...PLAIN, input_cost_per_request: 0.005 }, { inputTokens: 1000 }, '0.007'],
    ['a free model, as zero', { input_cost_per_token: 0, output_cost_per_token: 0 }, { inputTokens: 9 }, '0'],
    ['input of a model without an output price', { input_cost_per_token: 1e-6 }, { inputTokens: 5 }, '0.000005'],
  ])('is computed for %s', (_case, row, used, expected) => {
    expect(cost(row, used)).toBe(expected);
  });

  const VOICE = {
    input_cost_per_token: 4e-6,
    output_cost_per_token: 16e-6,
    cache_read_input_token_cost: 0.4e-6,
    input_cost_per_audio_token: 32e-6,
    output_cost_per_audio_token: 64e-6,
    cache_read_input_audio_token_cost: 0.8e-6,
  };
  const audioOf = (inputTokens: number, outputTokens = 0, cacheReadTokens = 0) => ({
    audio: { inputTokens, outputTokens, cacheReadTokens },
  });

  it.each([
    // 40 x 4e-6 + 60 x 32e-6 + 10 x 16e-6 + 40 x 64e-6.
    [
      'audio and text, each at its own rate',
      VOICE,
      { inputTokens: 100, outputTokens: 50, ...audioOf(60, 40) },
      '0.0048',
    ],
    // Audio: 20 x 32e-6 + 50 x 0.8e-6. Text: 20 x 4e-6 + 10 x 0.4e-6.
    [
      'cached audio once, at its own rate',
      VOICE,
      { inputTokens: 100, cacheReadTokens: 60, ...audioOf(70, 0, 50) },
      '0.000764',
    ],
    ['audio as text where it has no price', PLAIN, { inputTokens: 100, outputTokens: 10, ...audioOf(60, 4) }, '0.0003'],
    [
      'cached audio as cached text where it has no price',
      { ...VOICE, cache_read_input_audio_token_cost: undefined },
      { inputTokens: 50, cacheReadTokens: 50, ...audioOf(50, 0, 50) },
      '0.00002',
    ],
    [
      'more audio tokens than tokens, at most all tokens',
      VOICE,
      { inputTokens: 10, outputTokens: 1, ...audioOf(99, 99) },
      '0.000384',
    ],
    ['text alone, at the price of text', VOICE, { inputTokens: 10, outputTokens: 1 }, '0.000056'],
  ])('is computed for %s', (_case, row, used, expected) => {
    const price = createPricer(() => catalogOf({ 'up-1': row }));
    const billed = price(aDeployment({}), { usage: usage(used) });
    expect(billed === null ? null : usdText(billed)).toBe(expected);
  });

  it('includes cache writes for an hour at their own price, at every tier', () => {
    const row = {
      input_cost_per_token: 3e-6,
      output_cost_per_token: 1,
      cache_creation_input_token_cost: 3.75e-6,
      cache_creation_input_token_cost_above_200k_tokens: 7.5e-6,
    };
    const long = {
      cache_creation_input_token_cost_above_1hr: 6e-6,
      cache_creation_input_token_cost_above_1hr_above_200k_tokens: 12e-6,
    };
    const written = { inputTokens: 1_100, cacheWriteTokens: 1_000, longCacheWriteTokens: 400 };
    // 100 x 3e-6 + 600 x 3.75e-6 + 400 x 6e-6.
    expect(cost({ ...row, ...long }, written)).toBe('0.00495');
    // 200,000 x 3e-6 + 600 x 7.5e-6 + 400 x 12e-6: input has no price of its own in this tier.
    expect(cost({ ...row, ...long }, { ...written, inputTokens: 201_000 })).toBe('0.6093');
    expect(cost(row, written)).toBe('0.00405');
    // At most all 1,000 cache writes are for an hour.
    expect(cost({ ...row, ...long }, { ...written, longCacheWriteTokens: 5_000 })).toBe('0.0063');
  });

  it('is unknown where a price is missing', () => {
    expect(cost({ input_cost_per_token: 1e-6 }, { inputTokens: 5, outputTokens: 1 })).toBeNull();
    expect(cost({ mode: 'chat' }, { inputTokens: 5 })).toBeNull();
    expect(cost(PLAIN, { inputTokens: 5 }, { upstreamModel: 'unknown' })).toBeNull();
  });

  it('uses the tier of the highest exceeded bound for the whole call', () => {
    const row = {
      ...RICH,
      input_cost_per_token_above_128k_tokens: 3e-6,
      input_cost_per_token_above_200k_tokens: 4e-6,
      output_cost_per_token_above_200k_tokens: 15e-6,
      cache_read_input_token_cost_above_200k_tokens: 1e-6,
    };
    expect(cost(row, { inputTokens: 128_000, outputTokens: 1000 })).toBe('0.266');
    expect(cost(row, { inputTokens: 128_001, outputTokens: 1000 })).toBe('0.394003');
    // 1 x 4e-6 + 200,000 x 1e-6 + 1,000 x 15e-6.
    expect(cost(row, { inputTokens: 200_001, outputTokens: 1000, cacheReadTokens: 200_000 })).toBe('0.215004');
  });
});

it('a call of a model with tiered prices has the prices of the tier of its whole input', () => {
  const row = {
    tiered_pricing: [
      { range: [0, 32_000], input_cost_per_token: 1.2e-6, output_cost_per_token: 6e-6 },
      { range: [32_000, 128_000], input_cost_per_token: 2.4e-6, output_cost_per_token: 12e-6 },
    ],
  };
  expect(cost(row, { inputTokens: 32_000, outputTokens: 100 })).toBe('0.039');
  expect(cost(row, { inputTokens: 32_001, outputTokens: 100 })).toBe('0.0780024');
});

describe('the price of a deployment', () => {
  const rows = {
    base: { input_cost_per_token: 1 },
    'up-1': { input_cost_per_token: 2 },
    'openai/up-1': { input_cost_per_token: 3 },
    m: { input_cost_per_token: 4, output_cost_per_token: 9 },
  };
  const input = (names: readonly (keyof typeof rows)[], overrides: Partial<Deployment> = {}) => {
    const catalog = catalogOf(Object.fromEntries(names.map((name) => [name, rows[name]])));
    const tariff = tariffOf(aDeployment(overrides), catalog);
    const priced = tariff && costOf(tariff, usage({ inputTokens: 1 }));
    return priced === null ? null : usdText(priced);
  };

  it('is the price of the base model, else of provider/model, else of the upstream model, else of the public name', () => {
    expect(input(['m', 'openai/up-1', 'up-1', 'base'], { baseModel: 'base' })).toBe('1');
    expect(input(['m', 'openai/up-1', 'up-1'], { baseModel: 'base' })).toBe('3');
    expect(input(['m', 'up-1'])).toBe('2');
    expect(input(['m'])).toBe('4');
    expect(input([])).toBeNull();
  });

  it('is the configured price for each price key that the configuration sets', () => {
    const priceOverrides = { input_cost_per_token: 0.5 };
    expect(input([], { priceOverrides })).toBe('0.5');
    const tariff = tariffOf(aDeployment({ priceOverrides }), catalogOf({ m: rows.m }));
    const priced = tariff && costOf(tariff, usage({ inputTokens: 1, outputTokens: 1 }));
    expect(priced === null ? null : usdText(priced)).toBe('9.5');
  });

  it('is the configured price also for long prompts, of which the catalog has a price', () => {
    const row = {
      ...PLAIN,
      input_cost_per_token_above_200k_tokens: 4e-6,
      output_cost_per_token_above_200k_tokens: 15e-6,
    };
    const priceOverrides = { input_cost_per_token: 1e-6 };
    // 300,000 x 1e-6 + 1,000 x 15e-6.
    expect(cost(row, { inputTokens: 300_000, outputTokens: 1000 }, { priceOverrides })).toBe('0.315');
  });

  it('follows changes of the catalog', () => {
    let catalog = catalogOf({ 'up-1': PLAIN });
    const price = createPricer(() => catalog);
    const priced = (): string =>
      usdText(price(aDeployment(), { usage: usage({ inputTokens: 1000 }) }) ?? (-1n as never));
    expect(priced()).toBe('0.002');
    catalog = catalogOf({ 'up-1': { ...PLAIN, input_cost_per_token: 4e-6 } });
    expect(priced()).toBe('0.004');
  });
});

describe('the cost of a call of a model with a billing unit other than tokens', () => {
  const priceOf = (row: Record<string, unknown>, used: Parameters<ReturnType<typeof createPricer>>[1]) => {
    const priced = createPricer(() => catalogOf({ 'up-1': row }))(aDeployment(), used);
    return priced === null ? null : usdText(priced);
  };
  const BY_QUERY = { input_cost_per_token: 0, output_cost_per_token: 0, input_cost_per_query: 0.002 };
  const searches = (count: number) => ({ usage: null, measured: { unit: 'query', count } }) as const;

  it('is computed from the billing unit where the unit has a price', () => {
    expect(priceOf(BY_QUERY, searches(3))).toBe('0.006');
    expect(priceOf(BY_QUERY, searches(0))).toBe('0');
    expect(priceOf({ ...BY_QUERY, input_cost_per_query: 0 }, searches(3))).toBe('0');
  });

  it('is computed from tokens where the unit has no price', () => {
    const used = { ...searches(3), usage: usage({ inputTokens: 1000 }) };
    expect(priceOf(PLAIN, used)).toBe('0.002');
    expect(priceOf(PLAIN, searches(3))).toBeNull();
  });

  it('is unknown, not zero, where only tokens are free', () => {
    const used = { usage: usage({ inputTokens: 1000 }) };
    expect(priceOf(BY_QUERY, used)).toBeNull();
    expect(priceOf({ input_cost_per_token: 0, input_cost_per_character: 0.1 }, used)).toBeNull();
    expect(priceOf({ input_cost_per_token: 0, output_cost_per_token: 0 }, used)).toBe('0');
    expect(priceOf({ ...BY_QUERY, input_cost_per_token: 1e-6 }, used)).toBe('0.001');
  });
});

describe('a cost that the upstream reports', () => {
  const catalog = catalogOf({ 'up-1': PLAIN });
  const charged = usdFrom('0.000345') ?? undefined;
  const used = { usage: usage({ inputTokens: 1000 }), ...(charged === undefined ? {} : { charged }) };
  const priced = (overrides: Partial<Deployment>): string =>
    usdText(createPricer(() => catalog)(aDeployment(overrides), used) ?? (-1n as Usd));

  it('takes precedence over the catalog, which does not know the serving provider', () => {
    expect(priced({})).toBe('0.000345');
  });

  it('is ignored when the configuration has prices', () => {
    expect(priced({ priceOverrides: { input_cost_per_token: 1e-6 } })).toBe('0.001');
  });
});
