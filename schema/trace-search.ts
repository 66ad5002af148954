import { listTraceAgents, listTraceSeries } from '../resolvers/trace-search.ts';
import { InvalidInput } from '../src/domain/errors.ts';
import { usdFrom } from '../src/domain/money.ts';
import { nullIfBlank } from '../src/domain/optional-text.ts';
import type { SpanStatus } from '../src/domain/traces/span.ts';
import {
  type AgentActivity,
  NO_TRACE_FILTERS,
  type TraceBucket,
  type TraceFilters,
} from '../src/domain/traces/trace-search.ts';
import { AnnotationFilterType, conditionsOf } from './annotations.ts';
import { builder } from './base/builder.ts';
import { localId } from './base/global-id.ts';
import { directionField } from './base/order.ts';
import { SpanStatusType } from './spans.ts';
import { usdOrNull } from './base/decimal.ts';

const NS_PER_MS = 1_000_000;
/** Maximum stored cost, in picodollars: the largest 64-bit integer. */
const MAX_PICODOLLARS = 2n ** 63n - 1n;
/** Maximum duration in milliseconds: durations are stored in nanoseconds as 64-bit integers. */
const MAX_DURATION_MS = 2 ** 63 / NS_PER_MS;
const DEFAULT_BUCKETS = 24;
const MAX_BUCKETS = 500;
const DEFAULT_AGENTS = 100;
const MAX_AGENTS = 500;

/** A filter of traces as a client writes it. */
export interface FilterInput {
  readonly status?: SpanStatus | null | undefined;
  readonly service?: string | null | undefined;
  readonly agent?: string | null | undefined;
  readonly model?: string | null | undefined;
  readonly keyHash?: string | null | undefined;
  readonly teamId?: string | null | undefined;
  readonly minCostUsd?: string | null | undefined;
  readonly minDurationMs?: number | null | undefined;
  readonly minErrors?: number | null | undefined;
  readonly sessionId?: string | null | undefined;
  readonly userId?: string | null | undefined;
  readonly tag?: string | null | undefined;
  readonly internal?: boolean | null | undefined;
  readonly annotation?: typeof AnnotationFilterType.$inferInput | null | undefined;
  readonly text?: string | null | undefined;
}

export const TraceFilterType = builder.inputRef<FilterInput>('TraceFilter').implement({
  description: 'Filter of traces. All conditions must match; blank text is ignored.',
  fields: (t) => ({
    status: t.field({ type: SpanStatusType, description: 'Status of the root span.' }),
    service: t.string({ description: 'Exact service.' }),
    agent: t.string({ description: 'Exact name of one of its agents.' }),
    model: t.string({ description: 'Exact name of one of its models.' }),
    keyHash: t.id({ description: 'Hash or global id of the key that sent it.' }),
    teamId: t.id({ description: 'Team of the key that sent it: global id or local id.' }),
    minCostUsd: t.field({ type: 'Decimal', description: 'Minimum of `costUsd`. Traces without a cost do not match.' }),
    minDurationMs: t.float({ description: 'Minimum duration in milliseconds.' }),
    minErrors: t.int({ description: 'Minimum number of failed spans.' }),
    sessionId: t.string({ description: 'Exact session.' }),
    userId: t.string({ description: 'Exact user.' }),
    tag: t.string({ description: 'Exact text of one of its tags.' }),
    internal: t.boolean({
      description: 'Whether it has model calls of a lens run or of signals, which are tagged `litellm-lens`.',
    }),
    annotation: t.field({
      type: AnnotationFilterType,
      description:
        'The trace or one of its spans must have an annotation that matches all of these conditions. An empty filter matches every trace ' +
        'with an annotation. UNSUPPORTED for `traceUpdates`.',
    }),
    text: t.string({
      description:
        'Substring of its name, service, input preview, agents, models, session, user or tags, case-insensitive.',
    }),
  }),
});

const OrderFieldType = builder.enumType('TraceOrderField', {
  description: 'Properties that traces are ordered by.',
  values: {
    STARTED_AT: { value: 'start', description: 'Start time.' },
    DURATION: { value: 'duration', description: 'Duration.' },
    COST: { value: 'spend', description: '`costUsd`. Traces without a cost come last.' },
    ERRORS: { value: 'errors', description: 'Number of failed spans.' },
  } as const,
});

export const TraceOrderType = builder.inputType('TraceOrder', {
  description: 'Order of traces. Only the direction DESC is supported: ASC fails with UNSUPPORTED.',
  fields: (t) => ({
    field: t.field({ type: OrderFieldType, required: true, description: 'Property to order by.' }),
    direction: directionField(t, 'descending'),
  }),
});

/** Arguments of a time window. */
export const windowArgs = () =>
  builder.args((t) => ({
    from: t.field({
      type: 'DateTime',
      description: 'Start of the window, inclusive; 24 hours before its end when absent.',
    }),
    to: t.field({ type: 'DateTime', description: 'End of the window, exclusive; the current time when absent.' }),
  }));

/** Reads a filter. Throws InvalidInput for an amount or a duration out of range. */
export function filtersOf(input: FilterInput | null | undefined): TraceFilters {
  if (!input) return NO_TRACE_FILTERS;
  const { minCostUsd, minDurationMs, keyHash, teamId } = input;
  const minSpend = typeof minCostUsd === 'string' ? usdFrom(minCostUsd) : null;
  if (typeof minCostUsd === 'string' && (minSpend === null || minSpend > MAX_PICODOLLARS))
    throw new InvalidInput('`minCostUsd` is out of range.');
  if (typeof minDurationMs === 'number' && Math.abs(minDurationMs) >= MAX_DURATION_MS)
    throw new InvalidInput('`minDurationMs` is out of range.');
  return {
    status: input.status ?? null,
    service: nullIfBlank(input.service),
    agent: nullIfBlank(input.agent),
    model: nullIfBlank(input.model),
    keyHash: nullIfBlank(localId('VirtualKey', keyHash)),
    teamId: nullIfBlank(localId('Team', teamId)),
    minSpend,
    minDurationNs: typeof minDurationMs === 'number' ? BigInt(Math.round(minDurationMs * NS_PER_MS)) : null,
    minErrors: input.minErrors ?? null,
    sessionId: nullIfBlank(input.sessionId),
    userId: nullIfBlank(input.userId),
    tag: nullIfBlank(input.tag),
    internal: input.internal ?? null,
    annotation: input.annotation ? conditionsOf(input.annotation) : null,
    text: nullIfBlank(input.text),
  };
}

const msOf = (ns: bigint | null): number | null => (ns === null ? null : Number(ns) / NS_PER_MS);

const TraceBucketType = builder.objectRef<TraceBucket>('TraceBucket').implement({
  description: 'Sums over the traces that began in one interval.',
  fields: (t) => {
    const latency = (member: 'p50Ns' | 'p90Ns' | 'p99Ns', percent: number) =>
      t.float({
        nullable: true,
        description: `${percent}th percentile of the durations of the traces in milliseconds. Null without traces.`,
        resolve: (bucket) => msOf(bucket[member]),
      });
    const sum = (member: 'spans' | 'llmCalls' | 'inputTokens' | 'outputTokens', description: string) =>
      t.field({ type: 'BigInt', description, resolve: (bucket) => bucket[member] });
    return {
      from: t.field({
        type: 'DateTime',
        description: 'Start of the interval, inclusive. It ends at the start of the next one.',
        resolve: ({ startMs }) => new Date(startMs),
      }),
      traceCount: t.exposeInt('traces', { description: 'Number of traces.' }),
      failedTraceCount: t.exposeInt('failed', { description: 'Number of traces with a failed span.' }),
      spanCount: sum('spans', 'Number of spans.'),
      llmCalls: sum('llmCalls', 'Number of model calls.'),
      inputTokens: sum('inputTokens', 'Input tokens.'),
      outputTokens: sum('outputTokens', 'Output tokens.'),
      costUsd: t.field({
        type: 'Decimal',
        nullable: true,
        description: 'Cost of the priced calls of the traces in USD, estimates included. Null when none is priced.',
        resolve: ({ spend }) => usdOrNull(spend),
      }),
      latencyP50Ms: latency('p50Ns', 50),
      latencyP90Ms: latency('p90Ns', 90),
      latencyP99Ms: latency('p99Ns', 99),
    };
  },
});

builder.queryField('traceSeries', (t) =>
  t.field({
    type: [TraceBucketType],
    description:
      'A time series of traces: intervals of equal length, empty ones included. Reads all traces of the window.',
    complexity: ({ buckets }) => ({
      field: 1,
      multiplier: Math.max(1, Math.min(buckets ?? DEFAULT_BUCKETS, MAX_BUCKETS)),
    }),
    args: {
      ...windowArgs(),
      buckets: t.arg.int({
        description: `Maximum number of intervals, 1 to ${MAX_BUCKETS}; ${DEFAULT_BUCKETS} when absent.`,
      }),
      filter: t.arg({ type: TraceFilterType, description: 'All traces when absent.' }),
    },
    resolve: async (_root, { from, to, buckets, filter }, { scope }) => [
      ...(await listTraceSeries(scope, {
        startMs: from?.getTime() ?? null,
        endMs: to?.getTime() ?? null,
        buckets: buckets ?? null,
        filters: filtersOf(filter),
      })),
    ],
  }),
);

const AgentActivityType = builder.objectRef<AgentActivity>('AgentActivity').implement({
  description: 'An agent and its traces of a window.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name of the agent.' }),
    traceCount: t.exposeInt('traces', { description: 'Number of traces with the agent.' }),
    failedTraceCount: t.exposeInt('failed', { description: 'Number of these traces with a failed span of any agent.' }),
    lastTraceAt: t.field({
      type: 'DateTime',
      description: 'Start of the latest of these traces.',
      resolve: ({ lastStartMs }) => new Date(lastStartMs),
    }),
    frameworks: t.exposeStringList('frameworks', { description: 'Distinct frameworks of these traces, sorted.' }),
  }),
});

builder.queryField('agents', (t) =>
  t.field({
    type: [AgentActivityType],
    description:
      'Agents of the traces of a window, the one with the latest trace first. Reads all traces of the window.',
    complexity: ({ first }) => ({ field: 1, multiplier: Math.max(1, Math.min(first ?? DEFAULT_AGENTS, MAX_AGENTS)) }),
    args: {
      ...windowArgs(),
      first: t.arg.int({ description: `Maximum number of agents, 1 to ${MAX_AGENTS}; ${DEFAULT_AGENTS} when absent.` }),
      filter: t.arg({ type: TraceFilterType, description: 'All traces when absent.' }),
    },
    resolve: async (_root, { from, to, first, filter }, { scope }) => [
      ...(await listTraceAgents(scope, {
        startMs: from?.getTime() ?? null,
        endMs: to?.getTime() ?? null,
        limit: first ?? DEFAULT_AGENTS,
        filters: filtersOf(filter),
      })),
    ],
  }),
);
