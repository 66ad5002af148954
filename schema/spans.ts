import { listSpans, MOST_PAGE_SPANS, type SpanListPage, type SpanUpdate, watchSpans } from '../resolvers/spans.ts';
import { msBetween } from '../src/domain/traces/assemble-trace.ts';
import { contentViewOf } from '../src/domain/traces/content-view.ts';
import type { Usage } from '../src/domain/chat/chat.ts';
import type { SpendRow } from '../src/domain/spend/spend-row.ts';
import { usdText } from '../src/domain/money.ts';
import { type Span, SPAN_KINDS, SPAN_STATUSES, SPAN_TYPES } from '../src/domain/traces/span.ts';
import { spanCursorAt } from '../src/domain/traces/span-cursor.ts';
import { tokenDetailsOf } from '../src/domain/traces/token-details.ts';
import { isTruncated } from '../src/domain/traces/truncate.ts';
import { builder } from './builder.ts';
import { tokensOf, tokensOrNull } from './counts.ts';
import type { Connection } from './paging.ts';
import { CONTENT_VIEW } from './span-content.ts';
import { type KnownOfSpan, SpanType, SpendRowType, UsageType } from './refs.ts';

const MS = 1_000_000n;

/** The instant of a Unix time in nanoseconds, to the millisecond. */
export const instantOf = (unixNs: bigint): Date => new Date(Number(unixNs / MS));

export const SpanStatusType = builder.enumType('SpanStatus', {
  description: 'How a span, or the root of a trace, ended.',
  values: {
    UNSET: { value: SPAN_STATUSES[0], description: 'Nothing was said.' },
    OK: { value: SPAN_STATUSES[1], description: 'Said to be well.' },
    ERROR: { value: SPAN_STATUSES[2], description: 'Failed.' },
  } as const,
});

const SpanKindType = builder.enumType('SpanKind', {
  description: 'The OpenTelemetry span kind.',
  values: Object.fromEntries(
    SPAN_KINDS.map((kind) => [kind, { value: kind, description: `OpenTelemetry's ${kind.toLowerCase()} kind.` }]),
  ) as { readonly [Kind in (typeof SPAN_KINDS)[number]]: { readonly value: Kind; readonly description: string } },
});

type Shout<Name extends string> = Uppercase<Name>;

const SpanTypeType = builder.enumType('SpanType', {
  description: 'What a span is, read from its GenAI attributes.',
  values: Object.fromEntries(
    SPAN_TYPES.map((type) => [type.toUpperCase(), { value: type, description: `A span of type ${type}.` }]),
  ) as {
    readonly [Type in (typeof SPAN_TYPES)[number] as Shout<Type>]: {
      readonly value: Type;
      readonly description: string;
    };
  },
});

export const SpanHeadType = builder.interfaceRef<KnownOfSpan>('SpanHead').implement({
  description: 'One timed unit of a trace, without what it carries.',
  fields: (t) => ({
    traceId: t.exposeID('traceId', { description: 'The trace it belongs to, 32 hex digits.' }),
    spanId: t.exposeID('spanId', { description: '16 hex digits.' }),
    parentSpanId: t.exposeID('parentSpanId', {
      nullable: true,
      description: 'The span it is part of; null for a root.',
    }),
    name: t.exposeString('name', { description: 'As the sender named it.' }),
    kind: t.expose('kind', { type: SpanKindType, description: 'Which side of a call it is.' }),
    type: t.expose('type', { type: SpanTypeType, description: 'What it is.' }),
    agent: t.exposeString('agent', { description: 'The agent it belongs to; empty when none is named.' }),
    service: t.exposeString('service', { description: 'The service that sent it.' }),
    startedAt: t.field({
      type: 'DateTime',
      description: 'When it began, to the millisecond.',
      resolve: ({ startNs }) => instantOf(startNs),
    }),
    startNs: t.string({
      description: 'When it began, Unix nanoseconds as text: exact, for ordering.',
      resolve: ({ startNs }) => String(startNs),
    }),
    durationMs: t.float({
      description: 'How long it took, in milliseconds.',
      resolve: ({ startNs, endNs }) => msBetween(startNs, endNs),
    }),
    status: t.expose('status', { type: SpanStatusType, description: 'How it ended.' }),
    error: t.exposeString('error', { nullable: true, description: 'What went wrong; null when nothing is said.' }),
    errorTruncated: t.boolean({
      description: 'Whether the error was longer than what is kept of it.',
      resolve: ({ error }) => error !== null && isTruncated(error),
    }),
    model: t.exposeString('model', { nullable: true, description: 'The model it called.' }),
    provider: t.exposeString('provider', {
      nullable: true,
      description: 'Who answered, as the sender names it; null when it does not.',
    }),
    framework: t.exposeString('framework', {
      description: 'What sent it, e.g. `langchain`; empty when that cannot be told.',
    }),
    inputTokens: t.int({
      description: 'Input tokens it used; 2,147,483,647 where it says more.',
      resolve: ({ inputTokens }) => tokensOf(inputTokens),
    }),
    outputTokens: t.int({
      description: 'Output tokens it used; 2,147,483,647 where it says more.',
      resolve: ({ outputTokens }) => tokensOf(outputTokens),
    }),
    inputPreview: t.exposeString('inputPreview', { description: 'The beginning of its input.' }),
    requestId: t.exposeString('requestId', { nullable: true, description: "The provider's id of the answer." }),
    costUsd: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'What the gateway charged for this call; null when it did not make or could not price it.',
      resolve: ({ cost }) => (cost === null ? null : usdText(cost)),
    }),
    estimateUsd: t.field({
      type: 'Decimal',
      nullable: true,
      description:
        'What the catalog said such a call costs when the span was stored; null where the gateway has a record, and where it would be a guess. Several spans may tell of one call: `Trace.estimateUsd` counts each once.',
      resolve: ({ estimate }) => (estimate === null ? null : usdText(estimate)),
    }),
    spendRow: t.field({
      type: SpendRowType,
      nullable: true,
      description: 'What the gateway recorded of this call; null when it did not make it.',
      resolve: ({ traceId, spanId }, _args, { scope }) => scope.loaders.spendRowBySpan.load(`${traceId}:${spanId}`),
    }),
  }),
});

SpanType.implement({ description: 'A span of a trace, without what it carries.', interfaces: [SpanHeadType] });

/** Spans of a page whose size was not asked for. */
const PAGE_SPANS = 100;

const SpanConnectionType = builder.connectionObject(
  { type: SpanType, name: 'SpanConnection', description: 'One page of the spans of a trace, by start.' },
  { name: 'SpanEdge', description: 'One span of a page.' },
);

function connectionOf({ items, hasMore, spanCount, within }: SpanListPage): Connection<KnownOfSpan> {
  const edges = items.map((span) => ({
    node: { ...span, within },
    get cursor() {
      return spanCursorAt(span, spanCount);
    },
  }));
  return {
    edges,
    pageInfo: {
      hasNextPage: hasMore,
      hasPreviousPage: false,
      get startCursor() {
        return edges[0]?.cursor ?? null;
      },
      get endCursor() {
        return edges.at(-1)?.cursor ?? null;
      },
    },
  };
}

builder.queryField('spans', (t) =>
  t.field({
    type: SpanConnectionType,
    nullable: true,
    description:
      'The spans of one trace by start, page by page; the hierarchy is in the parent ids. Fails with NOT_FOUND when there is no such trace the caller may see.',
    complexity: ({ first }) => ({
      field: 1,
      multiplier: Math.max(0, Math.min(first ?? PAGE_SPANS, MOST_PAGE_SPANS)),
    }),
    args: {
      traceId: t.arg.id({ required: true, description: 'The trace.' }),
      ref: t.arg.id({ description: 'Its trace ref, when it came from a list: several keys may have sent one id.' }),
      first: t.arg.int({ description: 'At most so many, 1 to 500; 100 when absent.' }),
      after: t.arg.string({
        description: 'Only what follows this cursor. Fails with CONFLICT when the trace has more spans since then.',
      }),
    },
    resolve: async (_root, { traceId, ref, first, after }, { scope }) =>
      connectionOf(
        await listSpans(scope, { traceId, traceRef: ref ?? null, cursor: after ?? null, limit: first ?? PAGE_SPANS }),
      ),
  }),
);

const SpanUpdateType = builder.objectRef<SpanUpdate>('SpanUpdate').implement({
  description: 'Spans of a trace that its reader was not told of before.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Names this update; given as `after` it is where a reader goes on.' }),
    spans: t.field({
      type: [SpanType],
      description: 'The spans, by start; at most 500.',
      resolve: ({ spans }) => [...spans],
    }),
  }),
});

builder.subscriptionField('spans', (t) =>
  t.field({
    type: SpanUpdateType,
    description:
      'Spans of one trace as they are stored, none of those it has already. Ends within seconds when the key may not look any more, and with CONFLICT when its rights have changed.',
    args: {
      traceId: t.arg.id({ required: true, description: 'The trace, which need not have begun.' }),
      after: t.arg.id({
        description:
          'The last update that was read, for who comes back: unless nothing came behind it, every span of the trace comes first.',
      }),
    },
    subscribe: (_root, { traceId, after }, { scope }) => watchSpans(scope, { traceId, after: after ?? null }),
    resolve: (update) => update,
  }),
);

type Carried = Span['events'][number] | Span['links'][number];

const attributesOf = (carried: Carried): unknown => carried.attributes;

const SpanEventType = builder.objectRef<Span['events'][number]>('SpanEvent').implement({
  description: 'Something that happened during a span.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'As the sender named it.' }),
    at: t.field({ type: 'DateTime', description: 'When.', resolve: ({ timeNs }) => instantOf(timeNs) }),
    attributes: t.field({ type: 'JSON', description: 'Its attributes, as text.', resolve: attributesOf }),
  }),
});

const SpanLinkType = builder.objectRef<Span['links'][number]>('SpanLink').implement({
  description: 'Another span this one is about.',
  fields: (t) => ({
    traceId: t.exposeID('traceId', { description: 'Its trace.' }),
    spanId: t.exposeID('spanId', { description: 'The span.' }),
    attributes: t.field({ type: 'JSON', description: 'Attributes of the link, as text.', resolve: attributesOf }),
  }),
});

/** One span with what it carries: fetched for one span at a time. */
export const SpanDetailType = builder.objectRef<Span & KnownOfSpan>('SpanDetail').implement({
  description: 'A span with what it carries. Values longer than 64 KiB are cut.',
  interfaces: [SpanHeadType],
  fields: (t) => ({
    input: t.exposeString('input', { description: 'What went in; empty when nothing was sent.' }),
    output: t.exposeString('output', { description: 'What came out; empty when nothing was sent.' }),
    inputView: t.field({
      ...CONTENT_VIEW,
      description: 'What went in, in the form it is best shown in.',
      resolve: ({ input }) => contentViewOf(input),
    }),
    outputView: t.field({
      ...CONTENT_VIEW,
      description: 'What came out, in the form it is best shown in.',
      resolve: ({ output }) => contentViewOf(output),
    }),
    cacheReadTokens: t.int({
      nullable: true,
      description: 'Of its input tokens, what a cache had; null when it is not told.',
      resolve: ({ attributes }) => tokensOrNull(tokenDetailsOf(attributes).cacheRead),
    }),
    cacheWriteTokens: t.int({
      nullable: true,
      description: 'Of its input tokens, what a cache took in; null when it is not told.',
      resolve: ({ attributes }) => tokensOrNull(tokenDetailsOf(attributes).cacheWrite),
    }),
    reasoningTokens: t.int({
      nullable: true,
      description: 'Of its output tokens, what was only thought; null when it is not told.',
      resolve: ({ attributes }) => tokensOrNull(tokenDetailsOf(attributes).reasoning),
    }),
    attributes: t.field({
      type: 'JSON',
      description: 'Every attribute as text, without those that are input and output.',
      resolve: ({ attributes }) => attributes,
    }),
    resourceAttributes: t.field({
      type: 'JSON',
      description: 'Attributes of the sender, as text.',
      resolve: ({ resourceAttributes }) => resourceAttributes,
    }),
    events: t.field({
      type: [SpanEventType],
      description: 'What happened during it, in the order it was sent.',
      resolve: ({ events }) => events,
    }),
    links: t.field({
      type: [SpanLinkType],
      description: 'Other spans it is about.',
      resolve: ({ links }) => links,
    }),
  }),
});

UsageType.implement({
  description: 'Token counts of one call, as the upstream reported them; 2,147,483,647 where it reported more.',
  fields: (t) => {
    const count = (of: (usage: Usage) => number, description: string) =>
      t.int({ description, resolve: (usage) => tokensOf(of(usage)) });
    return {
      inputTokens: count((usage) => usage.inputTokens, 'All input tokens, cached ones included.'),
      outputTokens: count((usage) => usage.outputTokens, 'All output tokens, reasoning included.'),
      cacheReadTokens: count((usage) => usage.cacheReadTokens, 'Input tokens read from a cache.'),
      cacheWriteTokens: count((usage) => usage.cacheWriteTokens, 'Input tokens written to a cache.'),
      reasoningTokens: count((usage) => usage.reasoningTokens, 'Output tokens spent on reasoning.'),
    };
  },
});

const SpendStatusType = builder.enumType('SpendStatus', {
  description: 'How a gateway call ended.',
  values: {
    SUCCESS: { value: 'success', description: 'Answered.' },
    FAILURE: { value: 'failure', description: 'Not answered, or not to the end.' },
  } as const,
});

const costOf = ({ cost }: SpendRow): string | null => (cost === null ? null : usdText(cost));

SpendRowType.implement({
  description: 'What one gateway call used and cost.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Our id of the call.' }),
    callId: t.exposeString('callId', { description: "The caller's id of the call, else ours." }),
    callType: t.exposeString('callType', { description: 'What kind of call, e.g. `acompletion`.' }),
    modelGroup: t.exposeString('modelGroup', { description: 'The model the caller asked for.' }),
    model: t.exposeString('model', { description: 'The name sent upstream.' }),
    provider: t.exposeString('provider', { description: 'Who answered.' }),
    deploymentId: t.exposeID('deploymentId', { description: 'The deployment that answered.' }),
    usage: t.field({
      type: UsageType,
      nullable: true,
      description: 'Tokens used; null when the upstream reported none.',
      resolve: ({ usage }) => usage,
    }),
    costUsd: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'What it cost; null when no price is known or no usage was reported.',
      resolve: costOf,
    }),
    status: t.expose('status', { type: SpendStatusType, description: 'How it ended.' }),
    startedAt: t.expose('startedAt', { type: 'DateTime', description: 'When it entered the gateway.' }),
    endedAt: t.expose('endedAt', { type: 'DateTime', description: 'When it was over.' }),
    firstByteAt: t.expose('firstByteAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the answer began; null when none did.',
    }),
    errorCode: t.string({ nullable: true, description: 'Code of its failure.', resolve: ({ error }) => error?.code }),
    errorMessage: t.string({
      nullable: true,
      description: 'What went wrong.',
      resolve: ({ error }) => error?.message,
    }),
  }),
});
