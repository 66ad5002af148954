import { findParent, listChildren, type SpanListPage } from '../resolvers/spans.ts';
import { findSpanNode } from '../resolvers/nodes.ts';
import { msBetween } from '../src/domain/traces/assemble-trace.ts';
import { SPAN_KINDS, SPAN_TYPES, MAX_PAGE_SPANS } from '../src/domain/traces/span.ts';
import { spanCursorAt } from '../src/domain/traces/span-cursor.ts';
import { isTruncated } from '../src/domain/traces/truncate.ts';
import { builder } from './base/builder.ts';
import type { CountedPage } from './base/counted-pages.ts';
import { nullIfEmpty } from '../src/domain/optional-text.ts';
import { tokensOf } from './base/counts.ts';
import { nodesOf } from './base/node-loading.ts';
import { edgesOf, forwardPage } from './base/paging.ts';
import { type PartialSpan, SpanType, SpendRowType } from './base/refs.ts';
import { usdOrNull } from './base/decimal.ts';

const NS_PER_MS = 1_000_000n;

/** A Unix time in nanoseconds as a Date, truncated to the millisecond. */
export const instantOf = (unixNs: bigint): Date => new Date(Number(unixNs / NS_PER_MS));

export const SpanStatusType = builder.enumType('SpanStatus', {
  description: 'OpenTelemetry status of a span, or of the root span of a trace.',
  values: {
    UNSET: { value: 'unset', description: 'No status was set.' },
    OK: { value: 'ok', description: 'Success.' },
    ERROR: { value: 'error', description: 'Failure.' },
  } as const,
});

const SpanKindType = builder.enumType('SpanKind', {
  description: 'OpenTelemetry span kind.',
  values: Object.fromEntries(
    SPAN_KINDS.map((kind) => [kind, { value: kind, description: `OpenTelemetry's ${kind.toLowerCase()} kind.` }]),
  ) as { readonly [Kind in (typeof SPAN_KINDS)[number]]: { readonly value: Kind; readonly description: string } },
});

const SpanTypeType = builder.enumType('SpanType', {
  description: 'Kind of work, derived from GenAI attributes.',
  values: Object.fromEntries(
    SPAN_TYPES.map((type) => [type.toUpperCase(), { value: type, description: `A span of type ${type}.` }]),
  ) as {
    readonly [Type in (typeof SPAN_TYPES)[number] as Uppercase<Type>]: {
      readonly value: Type;
      readonly description: string;
    };
  },
});

builder.node(SpanType, {
  description: 'A timed unit of work of a trace.',
  id: { resolve: ({ traceId, spanId, traceRef }) => `${traceId}:${spanId}:${traceRef}` },
  loadMany: nodesOf((id, { scope }) => findSpanNode(scope, id)),
  fields: (t) => ({
    traceId: t.exposeID('traceId', { description: 'Trace id, 32 hex digits.' }),
    spanId: t.exposeID('spanId', { description: 'Span id, 16 hex digits.' }),
    parentSpanId: t.exposeID('parentSpanId', {
      nullable: true,
      description: 'Span id of the parent; null for a root.',
    }),
    name: t.exposeString('name', { description: 'Span name.' }),
    kind: t.expose('kind', { type: SpanKindType, description: 'OpenTelemetry span kind.' }),
    type: t.expose('type', { type: SpanTypeType, description: 'Kind of work.' }),
    agent: t.string({
      nullable: true,
      description: 'Name of the agent that the span belongs to. Null when the sender names none.',
      resolve: ({ agent }) => nullIfEmpty(agent),
    }),
    service: t.string({
      nullable: true,
      description: 'Service that sent the span. Null when the sender names none.',
      resolve: ({ service }) => nullIfEmpty(service),
    }),
    startedAt: t.field({
      type: 'DateTime',
      description: 'Start time, to the millisecond.',
      resolve: ({ startNs }) => instantOf(startNs),
    }),
    startNs: t.field({
      type: 'BigInt',
      description: 'Exact start time in Unix nanoseconds.',
      resolve: ({ startNs }) => startNs,
    }),
    durationMs: t.float({
      description: 'Duration in milliseconds.',
      resolve: ({ startNs, endNs }) => msBetween(startNs, endNs),
    }),
    status: t.expose('status', { type: SpanStatusType, description: 'Status.' }),
    error: t.exposeString('error', { nullable: true, description: 'Error message. Null when there is none.' }),
    errorTruncated: t.boolean({
      description: 'Whether `error` was truncated when it was stored.',
      resolve: ({ error }) => error !== null && isTruncated(error),
    }),
    model: t.exposeString('model', { nullable: true, description: 'Called model. Null for spans without a model.' }),
    provider: t.exposeString('provider', {
      nullable: true,
      description:
        'Provider, in lower case and without the name of the called API: `openai` for `openai.chat`. Null when unknown, and for spans without a model.',
    }),
    framework: t.string({
      nullable: true,
      description: 'Framework that produced the span, e.g. `langchain`. Null when unknown.',
      resolve: ({ framework }) => nullIfEmpty(framework),
    }),
    inputTokens: t.int({
      description: 'Input tokens, at most 2,147,483,647. Zero when unknown.',
      resolve: ({ inputTokens }) => tokensOf(inputTokens),
    }),
    outputTokens: t.int({
      description: 'Output tokens, at most 2,147,483,647. Zero when unknown.',
      resolve: ({ outputTokens }) => tokensOf(outputTokens),
    }),
    inputPreview: t.string({
      nullable: true,
      description:
        'At most 240 characters of the input, preferably of its latest user message. Null when there is no input.',
      resolve: ({ inputPreview }) => nullIfEmpty(inputPreview),
    }),
    responseId: t.exposeString('requestId', {
      nullable: true,
      description: 'Response id of the provider. Null when the span has none.',
    }),
    costUsd: t.field({
      type: 'Decimal',
      nullable: true,
      description:
        'Cost of this call in USD: what the gateway charged, else `estimatedCostUsd`. Null when both are unknown. Several ' +
        'spans can describe one call: `Trace.costUsd` counts each call once.',
      resolve: ({ cost, estimate }) => usdOrNull(cost ?? estimate),
    }),
    estimatedCostUsd: t.field({
      type: 'Decimal',
      nullable: true,
      description:
        'Estimate in USD from the catalog prices at the time the span was stored. Null when the gateway has a record of ' +
        'the call, and when no price is known.',
      resolve: ({ estimate }) => usdOrNull(estimate),
    }),
    spendRow: t.field({
      type: SpendRowType,
      nullable: true,
      description: 'Usage and cost of this call. Null when the gateway did not make it.',
      resolve: ({ traceId, spanId }, _args, { scope }) => scope.loaders.spendRowBySpan.load(`${traceId}:${spanId}`),
    }),
    parent: t.field({
      type: SpanType,
      nullable: true,
      description:
        'The parent. Null for a root, and while the parent is not stored. Reads all spans of the trace, once for all spans of a request.',
      resolve: async (span, _args, { scope }) => {
        const parent = await findParent(scope, span);
        return parent === null ? null : { ...parent, within: span.within };
      },
    }),
  }),
});

/** Default size of a page of the spans of a trace. */
export const DEFAULT_SPANS = 50;
/** Default size of a page of the children of a span. */
const DEFAULT_CHILDREN = 20;

export const SpanConnectionType = builder.connectionObject(
  {
    type: SpanType,
    name: 'SpanConnection',
    description: 'One page of spans, ordered by start.',
    fields: (t) => ({
      totalCount: t.int({
        description: 'Number of spans on all pages.',
        resolve: (connection) => (connection as CountedPage<PartialSpan>).totalCount,
      }),
    }),
  },
  { name: 'SpanEdge', description: 'One span of a page.' },
);

/** A page of spans as a connection. `within` are the stored parts of the trace that the spans were read from. */
export function spanConnectionOf(
  { items, hasMore, totalCount, spanCount }: SpanListPage,
  within: PartialSpan['within'],
): CountedPage<PartialSpan> {
  const spans = items.map((span): PartialSpan => ({ ...span, within }));
  const edges = edgesOf(spans, (span) => spanCursorAt(span, spanCount));
  return { ...forwardPage(edges, { hasNextPage: hasMore }), totalCount };
}

/** Cost of a page of spans. */
export const spanPageCost = (first: number | null | undefined, defaultSize: number) => ({
  field: 1,
  multiplier: Math.max(0, Math.min(first ?? defaultSize, MAX_PAGE_SPANS)),
});

export const AFTER_SPAN =
  'Returns spans after this cursor. CONFLICT when the trace has received spans since that page.';

builder.objectField(SpanType, 'children', (t) =>
  t.field({
    type: SpanConnectionType,
    description:
      'Spans with this span as parent, ordered by start. Reads all spans of the trace, once for all spans of a request.',
    complexity: ({ first }) => spanPageCost(first, DEFAULT_CHILDREN),
    args: {
      first: t.arg.int({ description: `Page size, 1 to ${MAX_PAGE_SPANS}; ${DEFAULT_CHILDREN} when absent.` }),
      after: t.arg.string({ description: AFTER_SPAN }),
    },
    resolve: async (span, { first, after }, { scope }) =>
      spanConnectionOf(
        await listChildren(scope, { span, cursor: after ?? null, limit: first ?? DEFAULT_CHILDREN }),
        span.within,
      ),
  }),
);
