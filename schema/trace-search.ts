import { listTraceAgents, listTraceSeries } from '../resolvers/trace-search.ts';
import { InvalidInput } from '../src/domain/errors.ts';
import { usdFrom, usdText } from '../src/domain/money.ts';
import { idOrNull } from '../src/domain/optional-id.ts';
import type { SpanStatus } from '../src/domain/traces/span.ts';
import {
  type AgentActivity,
  NO_FILTERS,
  type TraceBucket,
  type TraceFilters,
} from '../src/domain/traces/trace-search.ts';
import { builder } from './builder.ts';
import { SpanStatusType } from './spans.ts';

const NS_PER_MS = 1_000_000;

/** Filters as a caller writes them. */
interface FilterInput {
  readonly status?: SpanStatus | null | undefined;
  readonly service?: string | null | undefined;
  readonly agent?: string | null | undefined;
  readonly model?: string | null | undefined;
  readonly keyHash?: string | number | null | undefined;
  readonly teamId?: string | number | null | undefined;
  readonly minSpendUsd?: string | null | undefined;
  readonly minDurationMs?: number | null | undefined;
  readonly minErrors?: number | null | undefined;
  readonly text?: string | null | undefined;
}

export const TraceFilterType = builder.inputRef<FilterInput>('TraceFilter').implement({
  description: 'What traces must be; everything that is given must hold.',
  fields: (t) => ({
    status: t.field({ type: SpanStatusType, description: 'How its root ended.' }),
    service: t.string({ description: 'The service that sent it, exactly.' }),
    agent: t.string({ description: 'One of its agents, exactly.' }),
    model: t.string({ description: 'One of the models it called, exactly.' }),
    keyHash: t.id({ description: 'The key that sent it, by its hash.' }),
    teamId: t.id({ description: 'The team whose key sent it; blank is no filter.' }),
    minSpendUsd: t.field({ type: 'Decimal', description: 'Cost so much or more; unpriced ones do not pass.' }),
    minDurationMs: t.float({ description: 'Took so long or longer, in milliseconds.' }),
    minErrors: t.int({ description: 'So many of its spans failed, or more.' }),
    text: t.string({
      description: 'Stands in its name, service, input preview, agents or models, in whatever letter case.',
    }),
  }),
});

export const TraceOrderType = builder.enumType('TraceOrder', {
  description: 'By what the greatest traces come first.',
  values: {
    STARTED: { value: 'start', description: 'The newest.' },
    DURATION: { value: 'duration', description: 'The longest.' },
    SPEND: { value: 'spend', description: 'The most expensive; unpriced ones last.' },
    ERRORS: { value: 'errors', description: 'Those with the most failed spans.' },
  } as const,
});

/** The filters a caller wrote. Throws InvalidInput for an amount or a time that is none. */
export function filtersOf(input: FilterInput | null | undefined): TraceFilters {
  if (!input) return NO_FILTERS;
  const { minSpendUsd, minDurationMs, keyHash, teamId } = input;
  const minSpend = typeof minSpendUsd === 'string' ? usdFrom(minSpendUsd) : null;
  if (typeof minSpendUsd === 'string' && (minSpend === null || minSpend > MOST_PICOS))
    throw new InvalidInput('`minSpendUsd` is no amount that a trace can cost.');
  if (typeof minDurationMs === 'number' && !(Math.abs(minDurationMs) < MOST_MS))
    throw new InvalidInput('`minDurationMs` is not a duration.');
  return {
    status: input.status ?? null,
    service: input.service ?? null,
    agent: input.agent ?? null,
    model: input.model ?? null,
    keyHash: keyHash === null || keyHash === undefined ? null : String(keyHash),
    teamId: idOrNull(teamId?.toString()),
    minSpend,
    minDurationNs: typeof minDurationMs === 'number' ? BigInt(Math.round(minDurationMs * NS_PER_MS)) : null,
    minErrors: input.minErrors ?? null,
    text: input.text ?? null,
  };
}

/** The most that is kept of a cost. */
const MOST_PICOS = 2n ** 63n - 1n;
/** Longer than any trace can be. */
const MOST_MS = 2 ** 63 / NS_PER_MS;

const msOf = (ns: bigint | null): number | null => (ns === null ? null : Number(ns) / NS_PER_MS);

const TraceBucketType = builder.objectRef<TraceBucket>('TraceBucket').implement({
  description: 'What the traces that began in one stretch of time come to.',
  fields: (t) => {
    const latency = (of: 'p50Ns' | 'p90Ns' | 'p99Ns', percent: number) =>
      t.float({
        nullable: true,
        description: `The duration that ${percent} % of them did not exceed, in milliseconds; null without traces.`,
        resolve: (bucket) => msOf(bucket[of]),
      });
    return {
      from: t.field({
        type: 'DateTime',
        description: 'When it begins, inclusive; it ends where the next one begins.',
        resolve: ({ startMs }) => new Date(startMs),
      }),
      traces: t.exposeInt('traces', { description: 'How many began in it.' }),
      failed: t.exposeInt('failed', { description: 'In how many of them a span failed.' }),
      spans: t.exposeFloat('spans', { description: 'Their spans; a float because a sum may exceed 32 bits.' }),
      llmCalls: t.exposeFloat('llmCalls', { description: 'Their model calls.' }),
      inputTokens: t.exposeFloat('inputTokens', { description: 'Their input tokens.' }),
      outputTokens: t.exposeFloat('outputTokens', { description: 'Their output tokens.' }),
      spendUsd: t.field({
        type: 'Decimal',
        nullable: true,
        description: 'Sum over their priced calls; null when none is priced.',
        resolve: ({ spend }) => (spend === null ? null : usdText(spend)),
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
    description: 'Traces by the time they began, in stretches of one length, those without traces too.',
    complexity: ({ buckets }) => ({ field: 1, multiplier: Math.max(1, Math.min(buckets ?? 24, 500)) }),
    args: {
      from: t.arg({
        type: 'DateTime',
        description: 'Start of the first, inclusive; a day before the end when absent.',
      }),
      to: t.arg({ type: 'DateTime', description: 'End of the window, exclusive; now when absent.' }),
      buckets: t.arg.int({ description: 'At most so many, 1 to 500; 24 when absent.' }),
      filter: t.arg({ type: TraceFilterType, description: 'Only traces of which this holds.' }),
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
  description: 'An agent as the traces of a window name it.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'As the sender of its spans names it.' }),
    traces: t.exposeInt('traces', { description: 'In how many traces it took part.' }),
    failed: t.exposeInt('failed', { description: 'In how many of them a span failed, its own or another.' }),
    lastTraceAt: t.field({
      type: 'DateTime',
      description: 'When the latest of them began.',
      resolve: ({ lastStartMs }) => new Date(lastStartMs),
    }),
  }),
});

builder.queryField('agents', (t) =>
  t.field({
    type: [AgentActivityType],
    description: 'Agents that traces of a window name, whoever took part in the latest first.',
    complexity: ({ first }) => ({ field: 1, multiplier: Math.max(1, Math.min(first ?? 100, 500)) }),
    args: {
      from: t.arg({
        type: 'DateTime',
        description: 'Start of the window, inclusive; a day before its end when absent.',
      }),
      to: t.arg({ type: 'DateTime', description: 'End of the window, exclusive; now when absent.' }),
      first: t.arg.int({ description: 'At most so many, 1 to 500; 100 when absent.' }),
      filter: t.arg({ type: TraceFilterType, description: 'Only those of traces of which this holds.' }),
    },
    resolve: async (_root, { from, to, first, filter }, { scope }) => [
      ...(await listTraceAgents(scope, {
        startMs: from?.getTime() ?? null,
        endMs: to?.getTime() ?? null,
        limit: first ?? 100,
        filters: filtersOf(filter),
      })),
    ],
  }),
);
