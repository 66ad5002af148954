import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { CatalogEntry, CatalogSnapshot } from '../../../src/domain/catalog/catalog.ts';
import type { Outcome, Usage } from '../../../src/domain/chat/chat.ts';
import type { Deployment } from '../../../src/domain/chat/provider.ts';
import { usdText } from '../../../src/domain/money.ts';
import { createBatchRecorder } from '../../../src/gateway/calls/batch-recorder.ts';
import { createPricer } from '../../../src/gateway/accounting/price.ts';
import { loadEmbeddedSnapshot } from '../../../src/runtime/catalog/snapshot.ts';
import { aDeployment } from '../../support/chat.ts';
import { KNOWN_PRICE_KEYS } from './known-price-keys.ts';

const IS_PRICE = /cost|pric|multiplier/;

/** Price keys of the built-in price map and of its earlier versions. */
const KEYS: readonly string[] = [
  ...new Set([...KNOWN_PRICE_KEYS, ...loadEmbeddedSnapshot().entries.flatMap(({ row }) => Object.keys(row))]),
]
  .filter((key) => IS_PRICE.test(key))
  .toSorted();

type Row = Readonly<Record<string, unknown>>;

function catalogOf(rows: Readonly<Record<string, Row>>): CatalogSnapshot {
  const entries = Object.entries(rows).map(([id, row]): CatalogEntry => ({ id, provider: null, mode: 'chat', row }));
  return {
    id: 'test',
    takenAt: new Date(0),
    source: 'embedded',
    entries,
    find: (id) => entries.find((entry) => entry.id === id) ?? null,
  };
}

const NO_TOKENS: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};
/** Tokens are free, so that the whole cost comes from the tested key. */
const FREE = { input_cost_per_token: 0, output_cost_per_token: 0 };
const PRICE = 3e-6;

interface Case {
  readonly row: Row;
  readonly usage?: Partial<Usage>;
  readonly measured?: Outcome['measured'];
  readonly deployment?: Partial<Deployment>;
  readonly cost: string;
}

function costIn({ row, usage, measured, deployment }: Case): string | null {
  const price = createPricer(() => catalogOf({ 'up-1': row }));
  const used = {
    usage: usage === undefined ? null : { ...NO_TOKENS, ...usage },
    ...(measured === undefined ? {} : { measured }),
  };
  const cost = price(aDeployment(deployment ?? {}), used);
  return cost === null ? null : usdText(cost);
}

/** Tokens of the kind that a token price counts. */
const TOKENS: Readonly<Record<string, (count: number) => Partial<Usage>>> = {
  input_cost_per_token: (inputTokens) => ({ inputTokens }),
  output_cost_per_token: (outputTokens) => ({ outputTokens }),
  output_cost_per_reasoning_token: (reasoningTokens) => ({ outputTokens: reasoningTokens, reasoningTokens }),
  cache_read_input_token_cost: (cacheReadTokens) => ({ inputTokens: cacheReadTokens, cacheReadTokens }),
  input_cost_per_token_cache_hit: (cacheReadTokens) => ({ inputTokens: cacheReadTokens, cacheReadTokens }),
  cache_creation_input_token_cost: (cacheWriteTokens) => ({ inputTokens: cacheWriteTokens, cacheWriteTokens }),
  cache_creation_input_token_cost_above_1hr: (cacheWriteTokens) => ({
    inputTokens: cacheWriteTokens,
    cacheWriteTokens,
    longCacheWriteTokens: cacheWriteTokens,
  }),
  cache_creation_input_token_cost_above_12hr: (cacheWriteTokens) => ({
    inputTokens: cacheWriteTokens,
    cacheWriteTokens,
    longCacheWriteTokens: cacheWriteTokens,
  }),
  ...Object.fromEntries(
    (['audio', 'image', 'video'] as const).flatMap((medium) => [
      [
        `input_cost_per_${medium}_token`,
        (inputTokens: number) => ({ inputTokens, [medium]: { inputTokens, outputTokens: 0, cacheReadTokens: 0 } }),
      ],
      [
        `output_cost_per_${medium}_token`,
        (outputTokens: number) => ({ outputTokens, [medium]: { inputTokens: 0, outputTokens, cacheReadTokens: 0 } }),
      ],
      ...['cache_read', 'cache_creation'].map((kind) => [
        `${kind}_input_${medium}_token_cost`,
        (count: number) => ({
          inputTokens: count,
          cacheReadTokens: count,
          [medium]: { inputTokens: count, outputTokens: 0, cacheReadTokens: count },
        }),
      ]),
    ]),
  ),
};

/** Kind of a token price, bound of its tier in thousands of tokens, and service class. */
const KEY_FORM = /^(.+?)(?:_above_(\d+)k_tokens)?(?:_(flex|priority|ultrafast|balanced))?$/;

/** Case of a token price, which may apply to one tier or service class. Null for other keys. */
function tokenCase(key: string): Case | null {
  const [, kind = '', bound, serviceTier] = KEY_FORM.exec(key) ?? [];
  const tokens = TOKENS[kind];
  if (tokens === undefined) return null;
  const count = bound === undefined ? 1_000 : Number(bound) * 1_000 + 1_000;
  const used = tokens(count);
  return {
    row: { ...FREE, [key]: PRICE },
    usage: {
      ...used,
      // The input tokens of a call select its tier.
      inputTokens: Math.max(used.inputTokens ?? 0, bound === undefined ? 0 : count),
      ...(serviceTier === undefined ? {} : { serviceTier: serviceTier as 'flex' }),
    },
    // `PRICE` in picodollars.
    cost: usdText((BigInt(count) * 3_000_000n) as Parameters<typeof usdText>[0]),
  };
}

/** Prices by units other than tokens. Each price is 0.5. */
const UNITS: Readonly<Record<string, Case>> = {
  input_cost_per_request: { row: { ...FREE, input_cost_per_request: 0.5 }, usage: {}, cost: '0.5' },
  input_cost_per_query: unitCase('input_cost_per_query', { unit: 'query', count: 3 }, '1.5'),
  input_cost_per_character: unitCase('input_cost_per_character', { unit: 'character', count: 3 }, '1.5'),
  input_cost_per_second: unitCase('input_cost_per_second', { unit: 'second', count: 1.5 }, '0.75'),
  output_cost_per_second: unitCase('output_cost_per_second', { unit: 'second', count: 1.5 }, '0.75'),
  input_cost_per_audio_per_second: unitCase('input_cost_per_audio_per_second', { unit: 'second', count: 1.5 }, '0.75'),
  output_cost_per_video_per_second: unitCase(
    'output_cost_per_video_per_second',
    { ...videoSeconds('720p'), count: 8 },
    '4',
  ),
  ocr_cost_per_page: unitCase('ocr_cost_per_page', { unit: 'page', count: 7 }, '3.5'),
  annotation_cost_per_page: unitCase('annotation_cost_per_page', { unit: 'annotated_page', count: 7 }, '3.5'),
  ocr_cost_per_credit: unitCase('ocr_cost_per_credit', { unit: 'credit', count: 7 }, '3.5'),
  ...Object.fromEntries(
    ['input', 'output'].flatMap((side) => [
      [`${side}_cost_per_image`, unitCase(`${side}_cost_per_image`, { ...squareImage(), count: 2 }, '1')],
      [`${side}_cost_per_pixel`, unitCase(`${side}_cost_per_pixel`, { ...squareImage(), count: 2 }, '100')],
    ]),
  ),
};

function videoSeconds(resolution: string | null) {
  return { unit: 'video_second', resolution } as const;
}

/** The case of a price of videos by resolution, or of images by size. Null for other keys. */
function sizedCase(key: string): Case | null {
  const [, resolution] = /^output_cost_per_second_(\d+[pk])$/.exec(key) ?? [];
  if (resolution !== undefined) return unitCase(key, { ...videoSeconds(resolution), count: 8 }, '4');
  const [, size] = /^output_cost_per_image_([\d.]+K?)$/.exec(key) ?? [];
  if (size === undefined) return null;
  const sized = unitCase(key, { unit: 'image', size, quality: null, count: 2 }, '1');
  return { ...sized, row: { output_cost_per_image: 0.1, ...sized.row } };
}

function squareImage() {
  return { unit: 'image', size: '10x10', quality: null } as const;
}

function unitCase(key: string, measured: NonNullable<Outcome['measured']>, cost: string): Case {
  return { row: { [key]: 0.5 }, measured, cost };
}

/** Keys with a form of their own: prices of tools, tiers and off-peak hours, and regional multipliers. */
const SPECIAL_KEYS: Readonly<Record<string, Case>> = {
  search_context_cost_per_query: {
    row: {
      ...FREE,
      search_context_cost_per_query: {
        search_context_size_low: 0.1,
        search_context_size_medium: 0.2,
        search_context_size_high: 0.3,
      },
    },
    usage: { webSearches: 3, searchSize: 'high' },
    cost: '0.9',
  },
  file_search_cost_per_1k_calls: {
    row: { ...FREE, file_search_cost_per_1k_calls: 2.5 },
    usage: { fileSearches: 4 },
    cost: '0.01',
  },
  code_interpreter_cost_per_session: {
    row: { ...FREE, code_interpreter_cost_per_session: 0.03 },
    usage: { codeSessions: 2 },
    cost: '0.06',
  },
  citation_cost_per_token: {
    row: { ...FREE, citation_cost_per_token: 2e-6 },
    usage: { citationTokens: 500 },
    cost: '0.001',
  },
  computer_use_input_cost_per_1k_tokens: {
    row: { ...FREE, computer_use_input_cost_per_1k_tokens: 0.003 },
    usage: { inputTokens: 500, outputTokens: 100, usesComputer: true },
    cost: '0.0015',
  },
  computer_use_output_cost_per_1k_tokens: {
    row: { ...FREE, computer_use_output_cost_per_1k_tokens: 0.012 },
    usage: { inputTokens: 500, outputTokens: 100, usesComputer: true },
    cost: '0.0012',
  },
  tiered_pricing: {
    row: {
      tiered_pricing: [
        { range: [0, 1_000], input_cost_per_token: 1e-6, output_cost_per_token: 0 },
        { range: [1_000, 9_000], input_cost_per_token: 2e-6, output_cost_per_token: 0 },
      ],
    },
    usage: { inputTokens: 2_000 },
    cost: '0.004',
  },
  google_maps_grounding_cost_per_query: {
    row: { ...FREE, google_maps_grounding_cost_per_query: 0.025 },
    usage: { mapSearches: 1 },
    cost: '0.025',
  },
  off_peak_pricing: {
    // Its hours are the whole day.
    row: {
      ...FREE,
      off_peak_pricing: { input_cost_per_token: 1e-6, windows: [{ hours_utc: '00:00-00:00' }] },
    },
    usage: { inputTokens: 1_000 },
    cost: '0.001',
  },
  regional_endpoint_uplift_multiplier: {
    row: { input_cost_per_token: 1e-6, regional_endpoint_uplift_multiplier: 1.1 },
    usage: { inputTokens: 1_000 },
    deployment: { provider: 'vertex_ai', options: { vertex_location: 'europe-west1' } },
    cost: '0.0011',
  },
  regional_processing_uplift_multiplier_eu: regionCase('eu'),
  regional_processing_uplift_multiplier_us: regionCase('us'),
};

function regionCase(name: string): Case {
  return {
    row: { input_cost_per_token: 1e-6, [`regional_processing_uplift_multiplier_${name}`]: 1.1 },
    usage: { inputTokens: 1_000 },
    deployment: { apiBase: `https://${name}.api.openai.com/v1` },
    cost: '0.0011',
  };
}

/** Cost of a batch by a row, as text. */
async function batchCost(row: Row, usage: Partial<Usage>): Promise<string | null> {
  let cost: string | null = null;
  const deployment = aDeployment({});
  const { recordBatch: record } = createBatchRecorder(
    {
      recorder: {
        record({ spend }) {
          cost = spend.cost === null ? null : usdText(spend.cost);
        },
      },
      budgets: {
        readWindows: () => Promise.resolve([]),
        readSoftBudgets: () => Promise.resolve(),
        charge() {},
        alertSoftBudgets() {},
      } as never,
      price: () => null,
    },
    {
      catalog: () => catalogOf({ 'up-1': row }),
      adjusted: (own) => own,
      deployments: () => [deployment],
      deploymentsOf: () => [deployment],
    },
  );
  await record({
    kind: 'batch',
    id: 'batch_1',
    owner: { keyHash: 'k', teamId: null },
    deployment,
    uses: [{ model: 'up-1', usage: { ...NO_TOKENS, ...usage } }],
    createdAt: new Date(0),
    endedAt: new Date(0),
  });
  return cost;
}

const BATCHES: Readonly<Record<string, Partial<Usage>>> = {
  input_cost_per_token_batches: { inputTokens: 1_000 },
  output_cost_per_token_batches: { outputTokens: 1_000 },
  cache_creation_input_token_cost_batches: { inputTokens: 1_000, cacheWriteTokens: 1_000 },
  cache_read_input_token_cost_batches: { inputTokens: 1_000, cacheReadTokens: 1_000 },
};

/** Keys that price no call, from `docs/prices.md`. */
const UNPRICED = new Set(
  Array.from(
    readFileSync(new URL('../../../docs/prices.md', import.meta.url), 'utf8')
      .split('## Keys that price no call')[1]
      ?.matchAll(/^\| `([a-zA-Z0-9_.]+)`\s+\| \S/gm) ?? [],
    ([, key = '']) => key,
  ),
);

const caseOf = (key: string): Case | null => UNITS[key] ?? SPECIAL_KEYS[key] ?? sizedCase(key) ?? tokenCase(key);

describe('every price key of the map', () => {
  it('is priced, or is listed in docs/prices.md with the reason', () => {
    const priced = new Set(KEYS.filter((key) => caseOf(key) !== null || BATCHES[key] !== undefined));
    expect(KEYS.filter((key) => !priced.has(key) && !UNPRICED.has(key))).toEqual([]);
    expect([...UNPRICED].filter((key) => priced.has(key) || !KEYS.includes(key))).toEqual([]);
    expect(KEYS.length).toBeGreaterThan(90);
  });

  it.each(KEYS.filter((key) => caseOf(key) !== null))('sets the cost of a call: %s', (key) => {
    const priceCase = caseOf(key);
    if (priceCase === null) throw new Error('There is no case.');
    expect(costIn(priceCase)).toBe(priceCase.cost);
    // Without the key the call has another cost.
    const { [key]: _price, ...others } = priceCase.row;
    expect(costIn({ ...priceCase, row: others })).not.toBe(priceCase.cost);
  });

  it.each(Object.entries(BATCHES))('sets the cost of a batch: %s', async (key, usage) => {
    const row = { input_cost_per_token: 1e-6, output_cost_per_token: 1e-6 };
    expect(await batchCost({ ...row, [key]: PRICE }, usage)).toBe('0.003');
    // Without a batch price, a batch costs half of the same calls.
    expect(await batchCost(row, usage)).toBe('0.0005');
  });
});

it('a container has the price of its provider where the model has no price for containers', () => {
  const price = createPricer(() =>
    catalogOf({ 'up-1': FREE, 'openai/container': { code_interpreter_cost_per_session: 0.03 } }),
  );
  const cost = price(aDeployment({ provider: 'openai' }), { usage: { ...NO_TOKENS, codeSessions: 2 } });
  expect(cost === null ? null : usdText(cost)).toBe('0.06');
});
