import type { Loaders } from '../resolvers/operation/loaders.ts';
import { searchTraces, type TraceSearchPage } from '../resolvers/trace-search.ts';
import { findTrace, getSpan, listTraces, type TracePage, type TraceUpdate, watchTraces } from '../resolvers/traces.ts';
import { usdText } from '../src/domain/money.ts';
import { assembleTrace, msBetween } from '../src/domain/traces/assemble-trace.ts';
import { cursorAfter } from '../src/domain/traces/cursor.ts';
import { SOURCE_TYPES, type SpanHead, type TraceSource } from '../src/domain/traces/span.ts';
import { type TraceAgent, type TraceSummary, TRACE_PAGE_SIZE } from '../src/domain/traces/trace.ts';
import { isSearchCursor, searchCursorAfter } from '../src/domain/traces/search-cursor.ts';
import { builder } from './builder.ts';
import { CONTENT_COST, LIST_COST, TRACE_COST } from './limits.ts';
import type { Connection } from './paging.ts';
import {
  commonOwner,
  type KnownOfAgent,
  type KnownOfSpan,
  type KnownOfTrace,
  partsOf,
  SpanType,
  TraceAgentType,
  TraceType,
} from './refs.ts';
import { instantOf, SpanDetailType, SpanStatusType } from './spans.ts';
import { filtersOf, TraceFilterType, TraceOrderType } from './trace-search.ts';

TraceAgentType.implement({
  description: 'An agent as a trace shows it: an actor named by GenAI attributes.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name.' }),
    parentAgent: t.exposeString('parentAgent', {
      nullable: true,
      description: 'Nearest agent above it of another name; null at the top.',
    }),
    invocations: t.exposeInt('invocations', { description: 'How often it was invoked.' }),
    llmCalls: t.exposeInt('llmCalls', { description: 'Model calls it made.' }),
    toolCalls: t.exposeInt('toolCalls', { description: 'Tool calls it made.' }),
    durationMs: t.exposeFloat('durationMs', {
      description: 'Sum over its spans, in milliseconds: parallel ones can exceed the trace.',
    }),
  }),
});

const TraceSourceKindType = builder.enumType('TraceSourceType', {
  description: 'What kind of place a run was asked for in.',
  values: Object.fromEntries(
    SOURCE_TYPES.map((type) => [
      type.toUpperCase(),
      { value: type, description: type === 'custom' ? 'Anywhere else.' : `Asked for in ${type}.` },
    ]),
  ) as {
    readonly [Type in TraceSource['type'] as Uppercase<Type>]: { readonly value: Type; readonly description: string };
  },
});

const TraceSourceType = builder.objectRef<TraceSource>('TraceSource').implement({
  description: 'Where the run of a trace was asked for, by the `litellm.source.*` attributes of its root.',
  fields: (t) => ({
    type: t.expose('type', { type: TraceSourceKindType, description: 'What kind of place.' }),
    url: t.exposeString('url', { description: 'Leads there: `https` always.' }),
    title: t.exposeString('title', { description: 'What to call it; may be empty.' }),
    user: t.exposeString('user', { nullable: true, description: 'Who asked; null when that is not told.' }),
  }),
});

TraceType.implement({
  description: 'The spans that share one trace id. What they carry is read span by span.',
  fields: (t) => {
    const count = (
      name:
        | 'spanCount'
        | 'agentInvocations'
        | 'llmCalls'
        | 'toolCalls'
        | 'errorCount'
        | 'pricedCalls'
        | 'estimatedCalls'
        | 'gatewayCalls',
      description: string,
    ) => t.int({ description, resolve: ({ summary }) => summary[name] });
    return {
      traceId: t.id({ description: '32 hex digits.', resolve: ({ summary }) => summary.traceId }),
      traceRef: t.id({
        description:
          'Handle that finds exactly this trace again; empty when several keys sent the id and all are shown.',
        resolve: ({ summary }) => summary.traceRef,
      }),
      name: t.string({
        description: 'Name of the root span, of several the earliest; empty until one has arrived.',
        resolve: ({ summary }) => summary.name,
      }),
      service: t.string({
        description: 'The service that sent the root; until that has arrived, the earliest span.',
        resolve: ({ summary }) => summary.service,
      }),
      inputPreview: t.string({
        description:
          'The beginning of the input of the earliest root that has one; where none has, of the earliest agent or model call.',
        resolve: ({ summary }) => summary.inputPreview,
      }),
      startedAt: t.field({
        type: 'DateTime',
        description: 'When its first span began, to the millisecond.',
        resolve: ({ summary }) => instantOf(summary.startNs),
      }),
      endedAt: t.field({
        type: 'DateTime',
        description: 'When its last span ended, to the millisecond.',
        resolve: ({ summary }) => instantOf(summary.endNs),
      }),
      durationMs: t.float({
        description: 'From the first start to the last end, in milliseconds.',
        resolve: ({ summary }) => msBetween(summary.startNs, summary.endNs),
      }),
      status: t.field({
        type: SpanStatusType,
        description: 'Status of the root span; unset until it has arrived.',
        resolve: ({ summary }) => summary.status,
      }),
      teamId: t.id({
        description:
          'The team whose key sent it; empty when the key has none, and when keys of several teams sent it: see `owners`.',
        resolve: (trace) => commonOwner(trace, 'teamId') ?? '',
      }),
      redactedAt: t.field({
        type: 'DateTime',
        nullable: true,
        description: 'When its texts were taken out; null for a trace that has them.',
        resolve: ({ summary }) => summary.redactedAt,
      }),
      spanCount: count('spanCount', 'How many spans it has.'),
      agentNames: t.stringList({
        description: 'Names of its agents, sorted.',
        resolve: ({ summary }) => summary.agentNames,
      }),
      agentInvocations: count('agentInvocations', 'How many agent spans it has.'),
      llmCalls: count('llmCalls', 'How many model calls it has.'),
      toolCalls: count('toolCalls', 'How many tool calls it has.'),
      errorCount: count('errorCount', 'Spans that failed, anywhere in it.'),
      inputTokens: t.float({
        description: 'Sum over its model calls; a float because a sum may exceed 32 bits.',
        resolve: ({ summary }) => summary.inputTokens,
      }),
      outputTokens: t.float({
        description: 'Sum over its model calls; a float because a sum may exceed 32 bits.',
        resolve: ({ summary }) => summary.outputTokens,
      }),
      models: t.stringList({
        description: 'Models it called, sorted.',
        resolve: ({ summary }) => summary.models,
      }),
      spendUsd: t.field({
        type: 'Decimal',
        nullable: true,
        description:
          'Sum over its priced calls; null when none is priced. A call that the gateway recorded in another trace counts there, so that sums over traces have it once; `spendRows` has it in both.',
        resolve: ({ summary: { spend } }) => (spend === null ? null : usdText(spend)),
      }),
      pricedCalls: count('pricedCalls', 'How many of its calls are priced.'),
      estimateUsd: t.field({
        type: 'Decimal',
        nullable: true,
        description:
          'Of the spend, what is estimated from the catalog because the gateway has no record of the call; null when nothing is.',
        resolve: ({ summary: { estimate } }) => (estimate === null ? null : usdText(estimate)),
      }),
      gatewayCalls: count('gatewayCalls', 'How many of its model calls the gateway made.'),
      estimatedCalls: count('estimatedCalls', 'How many of its priced calls are estimated.'),
      frameworks: t.stringList({
        description: 'What sent its spans, sorted.',
        resolve: ({ summary }) => summary.frameworks,
      }),
      source: t.field({
        type: TraceSourceType,
        nullable: true,
        description: 'Where its run was asked for; null when its root does not tell.',
        resolve: ({ summary }) => summary.source,
      }),
      spans: t.field({
        type: [SpanType],
        nullable: true,
        complexity: { field: 1, multiplier: LIST_COST },
        description:
          'All of its spans by start; the hierarchy is in the parent ids. The query `spans` has them page by page. Null when they could not be read.',
        resolve: async (trace, _args, { scope }) => {
          const within = partsOf(trace);
          return (await spansOf(trace, scope.loaders)).map((span): KnownOfSpan => ({ ...span, within }));
        },
      }),
      agents: t.field({
        type: [TraceAgentType],
        nullable: true,
        complexity: { field: 1, multiplier: LIST_COST },
        description: 'Its agents, in the order they first appear. Null when they could not be read.',
        resolve: async (trace, _args, { scope }) => {
          const within = partsOf(trace);
          return (await agentsOf(trace, scope.loaders)).map((agent): KnownOfAgent => ({ ...agent, within }));
        },
      }),
    };
  },
});

function spansOf(
  { summary, spans }: KnownOfTrace,
  loaders: Loaders,
): Promise<readonly SpanHead[]> | readonly SpanHead[] {
  return spans ?? loaders.spansByTrace.load(summary);
}

async function agentsOf(trace: KnownOfTrace, loaders: Loaders): Promise<readonly TraceAgent[]> {
  if (trace.agents) return trace.agents;
  const spans = await spansOf(trace, loaders);
  return assembleTrace([trace.summary], new Map([[trace.summary.traceRef, spans]]))?.agents ?? [];
}

const knownOf = (summary: TraceSummary): KnownOfTrace => ({ summary });

export const TraceConnectionType = builder.connectionObject(
  { type: TraceType, name: 'TraceConnection', description: 'One page of traces, newest first.' },
  { name: 'TraceEdge', description: 'One trace of a page.' },
);

function connectionOf(
  items: readonly TraceSummary[],
  hasNextPage: boolean,
  cursorOf: (summary: TraceSummary) => string,
): Connection<KnownOfTrace> {
  const edges = items.map((summary) => ({
    node: knownOf(summary),
    get cursor() {
      return cursorOf(summary);
    },
  }));
  return {
    edges,
    pageInfo: {
      hasNextPage,
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

async function connectionOfPage(page: Promise<TracePage>): Promise<Connection<KnownOfTrace>> {
  const { items, nextCursor, window } = await page;
  return connectionOf(items, nextCursor !== null, (summary) => cursorAfter(window, summary));
}

export async function connectionOfSearch(page: Promise<TraceSearchPage>): Promise<Connection<KnownOfTrace>> {
  const { items, nextCursor, search } = await page;
  return connectionOf(items, nextCursor !== null, (summary) => searchCursorAfter(search, summary));
}

const TraceUpdateType = builder.objectRef<TraceUpdate>('TraceUpdate').implement({
  description: 'A trace as it stands after spans of it were stored.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Names this update; given as `after` it is where a reader goes on.' }),
    trace: t.field({ type: TraceType, description: 'The trace.', resolve: ({ event }) => knownOf(event.summary) }),
    missed: t.exposeInt('missed', {
      description: 'How many updates were dropped before this one because they were read too slowly.',
    }),
  }),
});

builder.queryFields((t) => ({
  trace: t.field({
    type: TraceType,
    nullable: true,
    complexity: TRACE_COST,
    description: 'One trace. Null when there is none with this id, or none the caller may see.',
    args: {
      id: t.arg.id({ required: true, description: 'Its trace id.' }),
      ref: t.arg.id({ description: 'Its trace ref, when it came from a list: several keys may have sent one id.' }),
    },
    resolve: (_root, { id, ref }, { scope }) => findTrace(scope, { traceId: id, traceRef: ref ?? null }),
  }),
  traces: t.field({
    type: TraceConnectionType,
    description: 'Traces that began inside a window, newest first unless ordered otherwise. At most 50 a page.',
    complexity: ({ first }) => ({
      field: 1,
      multiplier: Math.max(0, Math.min(first ?? TRACE_PAGE_SIZE, TRACE_PAGE_SIZE)),
    }),
    args: {
      from: t.arg({
        type: 'DateTime',
        description: 'Start of the window, inclusive; a day before its end when absent.',
      }),
      to: t.arg({ type: 'DateTime', description: 'End of the window, exclusive; now when absent.' }),
      first: t.arg.int({ description: 'At most this many, 1 to 50; 50 when absent.' }),
      after: t.arg.string({
        description:
          'Only what follows this cursor, in the window and the search it was given in; neither has to be said again.',
      }),
      filter: t.arg({ type: TraceFilterType, description: 'Only traces of which this holds.' }),
      orderBy: t.arg({ type: TraceOrderType, description: 'The greatest first of what; the newest when absent.' }),
    },
    resolve(_root, { from, to, first, after, filter, orderBy }, { scope }) {
      const asked = {
        startMs: from?.getTime() ?? null,
        endMs: to?.getTime() ?? null,
        cursor: after ?? null,
        limit: first ?? TRACE_PAGE_SIZE,
      };
      const searched = filter || orderBy || isSearchCursor(after ?? '');
      if (!searched) return connectionOfPage(listTraces(scope, asked));
      return connectionOfSearch(
        searchTraces(scope, { ...asked, filters: filter ? filtersOf(filter) : null, order: orderBy ?? null }),
      );
    },
  }),
  span: t.field({
    type: SpanDetailType,
    nullable: true,
    complexity: CONTENT_COST,
    description: 'One span with what it carries. Fails with NOT_FOUND when there is none the caller may see.',
    args: {
      traceId: t.arg.id({ required: true, description: 'Its trace.' }),
      spanId: t.arg.id({ required: true, description: 'The span.' }),
      ref: t.arg.id({ description: 'The trace ref, when it came from a list.' }),
    },
    resolve: (_root, { traceId, spanId, ref }, { scope }) => getSpan(scope, { traceId, spanId, traceRef: ref ?? null }),
  }),
}));

builder.subscriptionField('traceUpdates', (t) =>
  t.field({
    type: TraceUpdateType,
    description:
      'Traces as they land: each as it stands after spans of it were stored, not what changed in it. Ends within seconds when the key may not look any more, and with CONFLICT when its rights have changed.',
    args: {
      traceId: t.arg.id({ description: 'Only this trace.' }),
      filter: t.arg({ type: TraceFilterType, description: 'Only traces of which this holds as they stand by then.' }),
      after: t.arg.id({
        description:
          'First what came after the update of this id, for who comes back. Fails with CONFLICT when that is no longer kept: the latest 512 are.',
      }),
    },
    subscribe: (_root, { traceId, after, filter }, { scope }) =>
      watchTraces(scope, { traceId: traceId ?? null, after: after ?? null, filters: filtersOf(filter) }),
    resolve: (update) => update,
  }),
);
