import { type RankedEntries, rankForWorkload } from '../resolvers/estimates.ts';
import {
  type Estimate,
  estimate,
  type EstimateLine,
  type EstimateNote,
  QUANTITY_DIGITS,
} from '../src/domain/catalog/estimate.ts';
import { shareFrom, type Workload } from '../src/domain/catalog/workload.ts';
import { fixedText, rateText, usdText } from '../src/domain/money.ts';
import { builder } from './builder.ts';
import { type DemandsInput, DemandsInputType, readSearch, SNAPSHOT_ARG } from './catalog-search.ts';
import { CatalogSnapshotType } from './catalog.ts';
import { RANKING_COST } from './limits.ts';
import { type PageArgs, pageCost, pageOf } from './paging.ts';
import { CatalogEntryType } from './refs.ts';

/** Most lines of an estimate: six kinds in two lanes. */
const MOST_LINES = 12;

interface WorkloadInput {
  readonly requests: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheHitRate: string;
  readonly cacheWriteRate: string;
  readonly batchShare: string;
  readonly reasoningShare: string;
  readonly modes: readonly string[];
  readonly provider?: string | null | undefined;
  readonly model?: string | null | undefined;
  readonly where?: DemandsInput | null | undefined;
}

const WorkloadInputType = builder.inputRef<WorkloadInput>('WorkloadInput').implement({
  description: 'What is to be done. Shares are decimals from 0 to 1.',
  fields: (t) => {
    const share = (description: string) => t.field({ type: 'Decimal', required: true, defaultValue: '0', description });
    return {
      requests: t.int({ required: true, defaultValue: 1, description: 'How many requests; at least 1.' }),
      inputTokens: t.int({ required: true, description: 'Input tokens of one request, cached ones included.' }),
      outputTokens: t.int({ required: true, description: 'Output tokens of one request, reasoning included.' }),
      cacheHitRate: share('How much of the input is read from a cache.'),
      cacheWriteRate: share('How much of the input is written to a cache; with `cacheHitRate` at most 1.'),
      batchShare: share('How much of the work may be sent as batches.'),
      reasoningShare: share('How much of the output is reasoning.'),
      modes: t.stringList({
        required: true,
        defaultValue: ['chat', 'responses'],
        description: 'Only entries with one of these modes, letter case ignored.',
      }),
      provider: t.string({ description: 'Only entries of this provider, letter case ignored.' }),
      model: t.string({ description: 'As `model` of `catalogEntries`.' }),
      where: t.field({ type: DemandsInputType, description: 'What entries must offer.' }),
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
  description: 'What a line of an estimate is for.',
  values: {
    INPUT: { value: 'input', description: 'Input tokens that no cache has to do with.' },
    CACHE_READ: { value: 'cache_read', description: 'Input tokens read from a cache.' },
    CACHE_WRITE: { value: 'cache_write', description: 'Input tokens written to a cache.' },
    OUTPUT: { value: 'output', description: 'Output tokens without reasoning.' },
    REASONING: { value: 'reasoning', description: 'Reasoning tokens.' },
    REQUEST: { value: 'request', description: 'A fee per request.' },
  } as const,
});

const NOTES = {
  PRICED_ZERO: 'All at zero: free, sold by subscription, or a price that nobody looked up. The map does not say which.',
  CACHING_NOT_STATED: 'The map does not say that it caches: cached tokens are counted as plain input.',
  CACHE_READ_PRICE_MISSING: 'It caches, but reading has no price of its own: counted as plain input.',
  CACHE_WRITE_PRICE_MISSING: 'It caches, but writing has no price of its own: counted as plain input.',
  BATCH_PRICE_MISSING: 'Some of the batch share has no batch price: counted at the usual one.',
  BEYOND_PRICED_RANGE: 'A request is larger than the last tier that is priced: counted at that tier.',
  CONTEXT_WINDOW_UNKNOWN: 'The map does not say how much input it takes: the request may not fit.',
  OFF_PEAK_PRICES_IGNORED: 'It is cheaper at some hours; counted at the usual price.',
} as const satisfies Record<EstimateNote, string>;

const NoteType = builder.enumType('EstimateNote', {
  description: 'What about an estimate is not as asked for, or not known.',
  values: Object.fromEntries(
    Object.entries(NOTES).map(([name, description]) => [name, { value: name as EstimateNote, description }]),
  ),
});

const LineType = builder.objectRef<EstimateLine>('EstimateLine').implement({
  description: 'Part of an estimate: so much of something at a price.',
  fields: (t) => ({
    kind: t.expose('kind', { type: LineKindType, description: 'What it is for.' }),
    batch: t.exposeBoolean('batch', { description: 'Whether it is sent as batches.' }),
    quantity: t.field({
      type: 'Decimal',
      description: 'How many tokens, or requests; shares make parts of one.',
      resolve: ({ quantity }) => fixedText(quantity, QUANTITY_DIGITS),
    }),
    rate: t.field({ type: 'Decimal', description: 'USD for one.', resolve: ({ rate }) => rateText(rate) }),
    cost: t.field({ type: 'Decimal', description: 'USD.', resolve: ({ cost }) => usdText(cost) }),
  }),
});

const EstimateType = builder.objectRef<Estimate>('WorkloadEstimate').implement({
  description: 'What a workload costs by one entry of the catalog.',
  fields: (t) => ({
    entry: t.expose('entry', { type: CatalogEntryType, description: 'The entry that would do it.' }),
    total: t.field({
      type: 'Decimal',
      description: 'USD for all requests: the sum of the lines.',
      resolve: ({ total }) => usdText(total),
    }),
    perRequest: t.field({
      type: 'Decimal',
      description: 'USD for one request, on average.',
      resolve: ({ perRequest }) => usdText(perRequest),
    }),
    lines: t.field({
      type: [LineType],
      description: 'What the total is made of.',
      complexity: { field: 1, multiplier: MOST_LINES },
      resolve: ({ lines }) => [...lines],
    }),
    notes: t.field({
      type: [NoteType],
      description: 'What is not as asked for, or not known.',
      resolve: ({ notes }) => [...notes],
    }),
    tierAboveTokens: t.int({
      nullable: true,
      description: 'The price tier of one request: above so many input tokens. Null at the base prices.',
      resolve: ({ tierAbove }) => tierAbove,
    }),
  }),
});

/** Only what a page shows is worked out line by line. */
function estimateConnection(ranked: RankedEntries, workload: Workload, args: PageArgs) {
  const page = pageOf(ranked.entries, args, ({ id }) => id);
  const edges = page.edges.flatMap((edge) => {
    const node = estimate(edge.node, workload);
    return node === null ? [] : [{ cursor: edge.cursor, node }];
  });
  return { edges, pageInfo: page.pageInfo, ranked };
}

builder.queryField('estimateWorkload', (t) =>
  t.connection(
    {
      type: EstimateType,
      description:
        'What a workload costs by every entry that can do it, the cheapest first, equals in catalog order. Exact by ' +
        'the prices of the map: tiers, cache and batch prices are honoured, and what is not known is noted. At most 500 a page.',
      complexity: (page) => ({ ...pageCost(page), field: RANKING_COST }),
      args: {
        input: t.arg({ type: WorkloadInputType, required: true, description: 'The workload.' }),
        snapshot: t.arg.id({ description: SNAPSHOT_ARG }),
      },
      async resolve(_root, { input, snapshot, ...page }, { scope }) {
        const workload = readWorkload(input);
        const { provider, model, where } = input;
        const search = readSearch({ provider, model, where });
        const ranked = await rankForWorkload(scope, { workload, search, pin: snapshot ?? null });
        return estimateConnection(ranked, workload, page);
      },
    },
    {
      name: 'WorkloadEstimateConnection',
      description: 'One page of estimates.',
      fields: (connection) => ({
        totalCount: connection.int({
          description: 'How many entries are ranked.',
          resolve: ({ ranked }) => ranked.entries.length,
        }),
        unpricedCount: connection.int({
          description: 'How many more would do, but their prices are not known.',
          resolve: ({ ranked }) => ranked.unpriced,
        }),
        tooSmallCount: connection.int({
          description: 'How many more say that such a request does not fit: too much input or output.',
          resolve: ({ ranked }) => ranked.tooSmall,
        }),
        snapshot: connection.field({
          type: CatalogSnapshotType,
          description: 'The state of the catalog this page is from.',
          resolve: ({ ranked }) => ranked.snapshot,
        }),
      }),
    },
    { name: 'WorkloadEstimateEdge', description: 'One estimate of a page.' },
  ),
);
