import { describe, expect, it } from 'vitest';
import type { CatalogEntry } from '../../../src/domain/catalog/catalog.ts';
import { type Estimate, estimate, QUANTITY_DIGITS, rankEntries } from '../../../src/domain/catalog/estimate.ts';
import { shareFrom, type Workload } from '../../../src/domain/catalog/workload.ts';
import { fixedText, rateText, usdText } from '../../../src/domain/money.ts';

const entry = (id: string, row: Record<string, unknown>): CatalogEntry => ({ id, provider: 'p', mode: 'chat', row });

/** A workload with its shares as text. */
function workload(fields: {
  readonly requests?: number;
  readonly input: number;
  readonly output: number;
  readonly hit?: string;
  readonly write?: string;
  readonly batch?: string;
  readonly reasoning?: string;
}): Workload {
  return {
    requests: fields.requests ?? 1,
    inputTokens: fields.input,
    outputTokens: fields.output,
    cacheHitRate: shareFrom('hit', fields.hit ?? '0'),
    cacheWriteRate: shareFrom('write', fields.write ?? '0'),
    batchShare: shareFrom('batch', fields.batch ?? '0'),
    reasoningShare: shareFrom('reasoning', fields.reasoning ?? '0'),
    modes: ['chat'],
  };
}

const readable = (result: Estimate | null) =>
  result && {
    total: usdText(result.total),
    perRequest: usdText(result.perRequest),
    tier: result.tierAbove,
    notes: result.notes,
    lines: result.lines.map(
      ({ kind, batch, quantity, rate, cost }) =>
        `${batch ? 'batch ' : ''}${kind}: ${fixedText(quantity, QUANTITY_DIGITS)} x ${rateText(rate)} = ${usdText(cost)}`,
    ),
  };

// Rows of the price map, without members that the tests do not use.
const GPT_4O = {
  input_cost_per_token: 2.5e-6,
  output_cost_per_token: 1e-5,
  cache_read_input_token_cost: 1.25e-6,
  input_cost_per_token_batches: 1.25e-6,
  output_cost_per_token_batches: 5e-6,
  max_input_tokens: 128_000,
  max_output_tokens: 16_384,
  supports_prompt_caching: true,
};
const CLAUDE_SONNET_4 = {
  input_cost_per_token: 3e-6,
  output_cost_per_token: 1.5e-5,
  cache_creation_input_token_cost: 3.75e-6,
  cache_read_input_token_cost: 3e-7,
  input_cost_per_token_above_200k_tokens: 6e-6,
  output_cost_per_token_above_200k_tokens: 2.25e-5,
  cache_creation_input_token_cost_above_200k_tokens: 7.5e-6,
  cache_read_input_token_cost_above_200k_tokens: 6e-7,
  max_input_tokens: 1_000_000,
  supports_prompt_caching: true,
};
const GEMINI_2_5_PRO = {
  input_cost_per_token: 1.25e-6,
  output_cost_per_token: 1e-5,
  input_cost_per_token_above_200k_tokens: 2.5e-6,
  output_cost_per_token_above_200k_tokens: 1.5e-5,
  input_cost_per_token_batches: 6.25e-7,
  output_cost_per_token_batches: 5e-6,
  input_cost_per_token_above_200k_tokens_batches: 1.25e-6,
  output_cost_per_token_above_200k_tokens_batches: 7.5e-6,
  max_input_tokens: 1_048_576,
};
const GEMINI_1_5_PRO = {
  input_cost_per_token: 1.25e-6,
  output_cost_per_token: 5e-6,
  input_cost_per_token_above_128k_tokens: 2.5e-6,
  output_cost_per_token_above_128k_tokens: 1e-5,
  max_input_tokens: 2_097_152,
};
const QWEN_PLUS = {
  max_input_tokens: 1_500_000,
  tiered_pricing: [
    {
      range: [0, 256_000],
      input_cost_per_token: 4e-7,
      output_cost_per_token: 1.2e-6,
      output_cost_per_reasoning_token: 4e-6,
    },
    {
      range: [256_000, 1_000_000],
      input_cost_per_token: 1.2e-6,
      output_cost_per_token: 3.6e-6,
      output_cost_per_reasoning_token: 1.2e-5,
    },
  ],
};
const DEEPSEEK_CHAT = {
  input_cost_per_token: 2.8e-7,
  output_cost_per_token: 4.2e-7,
  cache_read_input_token_cost: 2.8e-8,
  input_cost_per_token_cache_hit: 2.8e-8,
  cache_creation_input_token_cost: 0,
  max_input_tokens: 131_072,
  supports_prompt_caching: true,
};

describe('the estimate equals a manual calculation for', () => {
  it('gpt-4o: a cached part and a batched half', () => {
    const work = workload({ requests: 1000, input: 10_000, output: 500, hit: '0.4', batch: '0.5' });
    expect(readable(estimate(entry('gpt-4o', GPT_4O), work))).toEqual({
      total: '20',
      perRequest: '0.02',
      tier: null,
      // Cached input has no batch price: batches pay its standard price.
      notes: ['BATCH_PRICE_MISSING'],
      lines: [
        'input: 3000000 x 0.0000025 = 7.5',
        'cache_read: 2000000 x 0.00000125 = 2.5',
        'output: 250000 x 0.00001 = 2.5',
        'batch input: 3000000 x 0.00000125 = 3.75',
        'batch cache_read: 2000000 x 0.00000125 = 2.5',
        'batch output: 250000 x 0.000005 = 1.25',
      ],
    });
  });

  it('claude-sonnet-4: cache reads and writes, at the bound and above it', () => {
    const sonnet = entry('claude-sonnet-4-20250514', CLAUDE_SONNET_4);
    const estimateFor = (input: number) =>
      readable(estimate(sonnet, workload({ requests: 10, input, output: 1000, hit: '0.8', write: '0.1' })));
    // 10 x (20,000 x 0.000003 + 160,000 x 0.0000003 + 20,000 x 0.00000375 + 1,000 x 0.000015).
    expect(estimateFor(200_000)).toMatchObject({ total: '1.98', tier: null, notes: [] });
    expect(estimateFor(250_000)).toEqual({
      total: '4.8',
      perRequest: '0.48',
      tier: 200_000,
      notes: [],
      lines: [
        'input: 250000 x 0.000006 = 1.5',
        'cache_read: 2000000 x 0.0000006 = 1.2',
        'cache_write: 250000 x 0.0000075 = 1.875',
        'output: 10000 x 0.0000225 = 0.225',
      ],
    });
  });

  it('gemini: batch prices of a tier, and an older model with a bound of 128,000 tokens', () => {
    const batched = workload({ input: 240_000, output: 1000, batch: '1' });
    // 240,000 x 0.00000125 + 1,000 x 0.0000075.
    expect(readable(estimate(entry('gemini-2.5-pro', GEMINI_2_5_PRO), batched))).toMatchObject({
      total: '0.3075',
      tier: 200_000,
      notes: [],
    });
    const plain = workload({ input: 130_000, output: 100 });
    // 130,000 x 0.0000025 + 100 x 0.00001.
    expect(readable(estimate(entry('gemini-1.5-pro', GEMINI_1_5_PRO), plain))).toMatchObject({
      total: '0.326',
      tier: 128_000,
    });
  });

  it('qwen-plus: tiers, reasoning at its own price, and input beyond the last tier', () => {
    const qwen = entry('dashscope/qwen-plus-2025-07-28', QWEN_PLUS);
    const estimateFor = (input: number) =>
      readable(estimate(qwen, workload({ requests: 100, input, output: 2000, reasoning: '0.5' })));
    // 100 x (256,000 x 0.0000004 + 1,000 x 0.0000012 + 1,000 x 0.000004).
    expect(estimateFor(256_000)).toMatchObject({ total: '10.76', tier: null, notes: [] });
    expect(estimateFor(300_000)).toMatchObject({
      total: '37.56',
      tier: 256_000,
      notes: [],
      lines: [
        'input: 30000000 x 0.0000012 = 36',
        'output: 100000 x 0.0000036 = 0.36',
        'reasoning: 100000 x 0.000012 = 1.2',
      ],
    });
    // The prices of the last tier: 100 x (1,000,001 x 0.0000012 + 0.0036 + 0.012).
    expect(estimateFor(1_000_001)).toMatchObject({ total: '121.56012', notes: ['BEYOND_PRICED_RANGE'] });
  });

  it('deepseek-chat: cache hits at their price, writes as plain input', () => {
    const work = workload({ requests: 1_000_000, input: 1000, output: 200, hit: '0.75', write: '0.1' });
    expect(readable(estimate(entry('deepseek/deepseek-chat', DEEPSEEK_CHAT), work))).toEqual({
      total: '175',
      perRequest: '0.000175',
      tier: null,
      // A price of zero for cache writes counts as missing.
      notes: ['CACHE_WRITE_PRICE_MISSING'],
      lines: [
        'input: 150000000 x 0.00000028 = 42',
        'cache_read: 750000000 x 0.000000028 = 21',
        'cache_write: 100000000 x 0.00000028 = 28',
        'output: 200000000 x 0.00000042 = 84',
      ],
    });
  });

  it('a fee per request', () => {
    const online = entry('perplexity/pplx-7b-online', {
      input_cost_per_request: 0.005,
      input_cost_per_token: 0,
      output_cost_per_token: 2.8e-7,
      max_input_tokens: 4096,
    });
    expect(readable(estimate(online, workload({ requests: 100, input: 10, output: 100 })))).toMatchObject({
      total: '0.5028',
      lines: ['input: 1000 x 0 = 0', 'output: 10000 x 0.00000028 = 0.0028', 'request: 100 x 0.005 = 0.5'],
    });
  });

  it('parts of a token, rounded once', () => {
    const tinyPrices = entry('tiny-prices', {
      input_cost_per_token: 1e-12,
      output_cost_per_token: 0,
      cache_read_input_token_cost: 1e-12,
    });
    const work = workload({ requests: 1, input: 1, output: 0, hit: '0.5', batch: '0.5' });
    expect(readable(estimate(tinyPrices, work))).toMatchObject({
      total: '0.000000000001',
      // Each line is the difference of rounded running sums, so that the lines add up to the total.
      lines: [
        'input: 0.25 x 0.000000000001 = 0',
        'cache_read: 0.25 x 0.000000000001 = 0',
        'batch input: 0.25 x 0.000000000001 = 0.000000000001',
        'batch cache_read: 0.25 x 0.000000000001 = 0',
      ],
    });
  });
});

describe('an estimate', () => {
  const PRICED = { input_cost_per_token: 1e-6, output_cost_per_token: 2e-6, max_input_tokens: 1000 };
  const cached = workload({ input: 100, output: 10, hit: '0.5' });
  it.each([
    ['complete prices', PRICED, workload({ input: 100, output: 10, reasoning: '0.5' }), []],
    ['no batch prices', PRICED, workload({ input: 100, output: 10, batch: '0.1' }), ['BATCH_PRICE_MISSING']],
    ['no caching flag', PRICED, cached, ['CACHING_NOT_STATED']],
    ['no price for cached input', { ...PRICED, supports_prompt_caching: true }, cached, ['CACHE_READ_PRICE_MISSING']],
    ['a cache price without the flag', { ...PRICED, cache_read_input_token_cost: 1e-7 }, cached, []],
    [
      'a cache price and a flag set to false',
      { ...PRICED, cache_read_input_token_cost: 0, supports_prompt_caching: false },
      cached,
      ['CACHING_NOT_STATED'],
    ],
    [
      'prices of zero',
      { ...PRICED, input_cost_per_token: 0, output_cost_per_token: 0 },
      cached,
      ['PRICED_ZERO', 'CACHING_NOT_STATED'],
    ],
    [
      'no input limit',
      { ...PRICED, max_input_tokens: null },
      workload({ input: 100, output: 10 }),
      ['CONTEXT_WINDOW_UNKNOWN'],
    ],
    [
      'off-peak prices',
      { ...PRICED, off_peak_pricing: {} },
      workload({ input: 100, output: 10 }),
      ['OFF_PEAK_PRICES_IGNORED'],
    ],
  ] as const)('has the expected notes for %s', (_case, row, work, notes) => {
    expect(estimate(entry('m', row), work)?.notes).toEqual(notes);
  });

  it('bills cached tokens in full where the row denies caching, or has neither the flag nor a cache price', () => {
    const denied = { ...PRICED, cache_read_input_token_cost: 0, supports_prompt_caching: false };
    const totals = [PRICED, denied].map((row) => readable(estimate(entry('m', row), cached))?.total);
    expect(totals).toEqual(['0.00012', '0.00012']);
  });
});

describe('ranking', () => {
  const work = workload({ input: 1000, output: 100 });
  const priced = (id: string, input: number, row: Record<string, unknown> = {}) =>
    entry(id, { input_cost_per_token: input, output_cost_per_token: 0, ...row });

  it('puts the cheapest entry first, and entries of equal cost in the order of the catalog', () => {
    const entries = [priced('b', 2e-6), priced('a', 1e-6), priced('c', 1e-6), priced('free', 0)];
    expect(rankEntries(entries, work).entries.map(({ id }) => id)).toEqual(['free', 'a', 'c', 'b']);
  });

  it('counts entries without a price and entries that are too small, and ignores other modes', () => {
    const entries = [
      priced('fits', 1e-6, { max_input_tokens: 1000, max_output_tokens: 100 }),
      priced('little input', 1e-6, { max_input_tokens: 999 }),
      priced('little output', 1e-6, { max_output_tokens: 99 }),
      priced('no output price', 1e-6, { output_cost_per_token: null }),
      entry('no price', { output_cost_per_second: 1 }),
      { ...priced('embedding', 1e-9), mode: 'embedding' },
      { ...priced('upper-case mode', 1e-6), mode: 'CHAT' },
      { ...priced('no mode', 1e-6), mode: null },
    ];
    const { entries: ranked, unpriced, tooSmall } = rankEntries(entries, work);
    expect([ranked.map(({ id }) => id), unpriced, tooSmall]).toEqual([['fits', 'upper-case mode'], 2, 2]);
  });

  it('includes an entry without an output price for a workload without output', () => {
    const embedding = priced('embedding', 1e-6, { output_cost_per_token: null });
    expect(rankEntries([embedding], workload({ input: 10, output: 0 })).entries).toEqual([embedding]);
  });
});
