import { rankForWorkload } from '../resolvers/estimates.ts';
import type { RankedEntries } from '../src/domain/catalog/result-cache.ts';
import {
  type Estimate,
  estimate,
  type EstimateLine,
  type EstimateNote,
  QUANTITY_DIGITS,
} from '../src/domain/catalog/estimate.ts';
import { shareFrom, type Workload } from '../src/domain/catalog/workload.ts';
import { fixedText, rateText, usdText } from '../src/domain/money.ts';
import { builder } from './base/builder.ts';
import { CatalogEntryFilterType, readSearch, SNAPSHOT_ARG } from './base/catalog-search.ts';
import { CatalogSnapshotType, pinOf } from './catalog.ts';
import { RANKING_COST } from './base/limits.ts';
import { type PageArgs, pageCost, pageOf } from './base/paging.ts';
import { CatalogEntryType } from './base/refs.ts';

/** Maximum number of lines of an estimate: six kinds, each for regular and for batch requests. */
const MAX_LINES = 12;

interface WorkloadInput {
  readonly requests: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheHitRate: string;
  readonly cacheWriteRate: string;
  readonly batchShare: string;
  readonly reasoningShare: string;
  readonly modes: readonly string[];
}

const WorkloadInputType = builder.inputRef<WorkloadInput>('WorkloadInput').implement({
  description: 'A workload to estimate. Rates and shares are decimals from 0 to 1.',
  fields: (t) => {
    const share = (description: string) => t.field({ type: 'Decimal', required: true, defaultValue: '0', description });
    return {
      requests: t.int({ required: true, defaultValue: 1, description: 'Number of requests, at least 1.' }),
      inputTokens: t.int({ required: true, description: 'Input tokens of one request, cached ones included.' }),
      outputTokens: t.int({ required: true, description: 'Output tokens of one request, reasoning included.' }),
      cacheHitRate: share('Share of the input that is read from a cache.'),
      cacheWriteRate: share('Share of the input that is written to a cache. The sum with `cacheHitRate` is at most 1.'),
      batchShare: share('Share of the requests that may be sent as batches.'),
      reasoningShare: share('Share of the output that is reasoning.'),
      modes: t.stringList({
        required: true,
        defaultValue: ['chat', 'responses'],
        description: 'Modes of the entries to rank, case-insensitive.',
      }),
    };
  },
});

function readWorkload(input: WorkloadInput): Workload {
  return {
    requests: input.requests,
    inputTokens: input.inputTokens,
    outputTokens: input.outputTokens,
    cacheHitRate: shareFrom('cacheHitRate', input.cacheHitRate),
    cacheWriteRate: shareFrom('cacheWriteRate', input.cacheWriteRate),
    batchShare: shareFrom('batchShare', input.batchShare),
    reasoningShare: shareFrom('reasoningShare', input.reasoningShare),
    modes: input.modes,
  };
}

const LineKindType = builder.enumType('EstimateLineKind', {
  description: 'What a line of an estimate charges for.',
  values: {
    INPUT: { value: 'input', description: 'Input tokens neither read from nor written to a cache.' },
    CACHE_READ: { value: 'cache_read', description: 'Input tokens read from a cache.' },
    CACHE_WRITE: { value: 'cache_write', description: 'Input tokens written to a cache.' },
    OUTPUT: { value: 'output', description: 'Output tokens without reasoning.' },
    REASONING: { value: 'reasoning', description: 'Reasoning tokens.' },
    REQUEST: { value: 'request', description: 'A fee per request.' },
  } as const,
});

const NOTES = {
  PRICED_ZERO:
    'Input and output prices are zero: free, sold by subscription, or unknown. The price map does not distinguish them.',
  CACHING_NOT_STATED: 'The price map does not state caching. Cached tokens are charged as plain input.',
  CACHE_READ_PRICE_MISSING: 'No price for cache reads. They are charged as plain input.',
  CACHE_WRITE_PRICE_MISSING: 'No price for cache writes. They are charged as plain input.',
  BATCH_PRICE_MISSING: 'Part of the batch share has no batch price and is charged at the regular price.',
  BEYOND_PRICED_RANGE: 'A request exceeds the last priced tier and is charged at that tier.',
  CONTEXT_WINDOW_UNKNOWN: '`maxInputTokens` is unknown. A request may not fit.',
  OFF_PEAK_PRICES_IGNORED: 'The entry has off-peak prices. The regular price is used.',
} as const satisfies Record<EstimateNote, string>;

const NoteType = builder.enumType('EstimateNote', {
  description: 'An assumption or an unknown of an estimate.',
  values: Object.fromEntries(
    Object.entries(NOTES).map(([name, description]) => [name, { value: name as EstimateNote, description }]),
  ),
});

const LineType = builder.objectRef<EstimateLine>('EstimateLine').implement({
  description: 'A quantity at a price: part of an estimate.',
  fields: (t) => ({
    kind: t.expose('kind', { type: LineKindType, description: 'What is charged.' }),
    batch: t.exposeBoolean('batch', {
      description: 'Whether the line is for batch requests. They have the regular price where there is no batch price.',
    }),
    quantity: t.field({
      type: 'Decimal',
      description: 'Number of tokens or requests. A fraction where shares apply.',
      resolve: ({ quantity }) => fixedText(quantity, QUANTITY_DIGITS),
    }),
    unitPriceUsd: t.field({
      type: 'Decimal',
      description: 'Price of one token or request in USD.',
      resolve: ({ rate }) => rateText(rate),
    }),
    costUsd: t.field({ type: 'Decimal', description: 'Cost in USD.', resolve: ({ cost }) => usdText(cost) }),
  }),
});

const EstimateType = builder.objectRef<Estimate>('WorkloadEstimate').implement({
  description: 'Cost of a workload at the prices of one catalog entry.',
  fields: (t) => ({
    entry: t.expose('entry', { type: CatalogEntryType, description: 'Catalog entry whose prices are used.' }),
    costUsd: t.field({
      type: 'Decimal',
      description: 'Cost of all requests in USD: the sum of the lines.',
      resolve: ({ total }) => usdText(total),
    }),
    costPerRequestUsd: t.field({
      type: 'Decimal',
      description: 'Average cost of one request in USD.',
      resolve: ({ perRequest }) => usdText(perRequest),
    }),
    lines: t.field({
      type: [LineType],
      description: 'Breakdown of the cost.',
      complexity: { field: 1, multiplier: MAX_LINES },
      resolve: ({ lines }) => [...lines],
    }),
    notes: t.field({
      type: [NoteType],
      description: 'Assumptions and unknowns.',
      resolve: ({ notes }) => [...notes],
    }),
    tierAboveTokens: t.int({
      nullable: true,
      description: 'Lower bound, in input tokens, of the price tier of one request. Null at the base prices.',
      resolve: ({ tierAbove }) => tierAbove,
    }),
  }),
});

/** Computes the lines of the estimates on the page only: the ranking has the entries, but not their lines. */
function estimateConnection(ranked: RankedEntries, workload: Workload, args: PageArgs) {
  const page = pageOf(ranked.entries, args, ({ id }) => id);
  const edges = page.edges.flatMap((edge) => {
    const node = estimate(edge.node, workload);
    return node === null ? [] : [{ cursor: edge.cursor, node }];
  });
  return { edges, pageInfo: page.pageInfo, ranked };
}

builder.queryField('workloadEstimates', (t) =>
  t.connection(
    {
      type: EstimateType,
      description:
        'Cost of a workload at every catalog entry that can run it, cheapest first; equal costs keep the order of the ' +
        'price map. Price tiers, cache prices and batch prices apply; off-peak prices do not. At most 500 a page. ' +
        'Expensive: ranks the whole catalog.',
      complexity: (args) => ({ ...pageCost(args), field: RANKING_COST }),
      args: {
        workload: t.arg({ type: WorkloadInputType, required: true, description: 'The workload.' }),
        filter: t.arg({ type: CatalogEntryFilterType, description: 'Entries to rank; all when absent.' }),
        snapshotId: t.arg.id({ description: SNAPSHOT_ARG }),
      },
      async resolve(_root, { workload: input, filter, snapshotId, ...pageArgs }, { scope }) {
        const workload = readWorkload(input);
        const ranked = await rankForWorkload(scope, { workload, search: readSearch(filter), pin: pinOf(snapshotId) });
        return estimateConnection(ranked, workload, pageArgs);
      },
    },
    {
      name: 'WorkloadEstimateConnection',
      description: 'One page of estimates.',
      fields: (connectionFields) => ({
        totalCount: connectionFields.int({
          description: 'Number of ranked entries, on all pages.',
          resolve: ({ ranked }) => ranked.entries.length,
        }),
        unpricedCount: connectionFields.int({
          description: 'Number of entries that match but lack a price that the workload needs.',
          resolve: ({ ranked }) => ranked.unpriced,
        }),
        tooSmallCount: connectionFields.int({
          description: 'Number of entries that match but whose token limits are too small for a request.',
          resolve: ({ ranked }) => ranked.tooSmall,
        }),
        snapshot: connectionFields.field({
          type: CatalogSnapshotType,
          description: 'Snapshot that this page shows.',
          resolve: ({ ranked }) => ranked.snapshot,
        }),
      }),
    },
    { name: 'WorkloadEstimateEdge', description: 'One estimate of a page.' },
  ),
);
