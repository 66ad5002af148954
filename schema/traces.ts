import { findTraceNode } from '../resolvers/nodes.ts';
import { listSpans } from '../resolvers/spans.ts';
import { msBetween } from '../src/domain/traces/assemble-trace.ts';
import { SOURCE_TYPES, type TraceSource, MAX_PAGE_SPANS } from '../src/domain/traces/span.ts';
import { nullIfEmpty } from '../src/domain/optional-text.ts';
import { findTrace } from '../resolvers/traces.ts';
import { builder } from './base/builder.ts';
import { LIST_LENGTH, TRACE_COST } from './base/limits.ts';
import { nodesOf } from './base/node-loading.ts';
import { commonOwner, type PartialTrace, partsOf, TraceAgentType, TraceType } from './base/refs.ts';
import {
  AFTER_SPAN,
  DEFAULT_SPANS,
  instantOf,
  SpanConnectionType,
  spanConnectionOf,
  spanPageCost,
  SpanStatusType,
} from './spans.ts';
import { usdOrNull } from './base/decimal.ts';
import { TRACE_ID, TRACE_REF, traceAddressOf } from './base/trace-address.ts';
import { agentsOf } from './trace-agents.ts';

const SourceKindType = builder.enumType('TraceSourceType', {
  description: 'Kind of system that started the traced run.',
  values: Object.fromEntries(
    SOURCE_TYPES.map((type) => [
      type.toUpperCase(),
      { value: type, description: type === 'custom' ? 'Any other system.' : `Started from ${type}.` },
    ]),
  ) as {
    readonly [Type in TraceSource['type'] as Uppercase<Type>]: { readonly value: Type; readonly description: string };
  },
});

const TraceSourceType = builder.objectRef<TraceSource>('TraceSource').implement({
  description: 'Where the traced run was started: the `litellm.source.*` attributes of the root span.',
  fields: (t) => ({
    type: t.expose('type', { type: SourceKindType, description: 'Kind of system.' }),
    url: t.exposeString('url', { description: 'Link to where the run was started, always `https`.' }),
    title: t.string({
      nullable: true,
      description: 'Display text of the link. Null when the sender sent none.',
      resolve: ({ title }) => nullIfEmpty(title),
    }),
    user: t.exposeString('user', { nullable: true, description: 'Who started the run. Null when unknown.' }),
  }),
});

/** Local id: `traceId:traceRef` of a stored trace, `traceId` of a merged one. */
const nodeIdOf = ({ summary: { traceId, traceRef } }: PartialTrace): string =>
  traceRef === '' ? traceId : `${traceId}:${traceRef}`;

builder.node(TraceType, {
  description:
    'The spans with one trace id. Keys that send the same trace id have separate traces; `trace` merges them for a caller ' +
    'who may read several.',
  id: { resolve: nodeIdOf },
  loadMany: nodesOf((id, { scope }) => findTraceNode(scope, id)),
  fields: (t) => {
    type Count =
      | 'spanCount'
      | 'agentInvocations'
      | 'llmCalls'
      | 'toolCalls'
      | 'errorCount'
      | 'pricedCalls'
      | 'estimatedCalls'
      | 'gatewayCalls';
    const count = (name: Count, description: string) => t.int({ description, resolve: ({ summary }) => summary[name] });
    const text = (name: 'name' | 'service' | 'inputPreview' | 'traceRef', description: string) =>
      t.string({ nullable: true, description, resolve: ({ summary }) => nullIfEmpty(summary[name]) });
    const tokens = (name: 'inputTokens' | 'outputTokens', description: string) =>
      t.field({ type: 'BigInt', description, resolve: ({ summary }) => summary[name] });
    return {
      traceId: t.id({ description: 'Trace id, 32 hex digits.', resolve: ({ summary }) => summary.traceId }),
      traceRef: text('traceRef', 'Ref of the trace of one key, as in the HTTP API. Null for a merged trace.'),
      name: text(
        'name',
        'Name of the root span; of the earliest one when there are several. Until a root span is stored: null in lists and updates, in other fields the name of the earliest span.',
      ),
      service: text(
        'service',
        'Service of the root span, or of the earliest span until a root is stored. Null when the sender names none.',
      ),
      inputPreview: text(
        'inputPreview',
        'Input preview of the earliest root span that has one, else of the earliest agent or model call. Null when none of these spans has a preview.',
      ),
      startedAt: t.field({
        type: 'DateTime',
        description: 'Earliest start of its spans, to the millisecond.',
        resolve: ({ summary }) => instantOf(summary.startNs),
      }),
      endedAt: t.field({
        type: 'DateTime',
        description: 'Latest end of its spans, to the millisecond.',
        resolve: ({ summary }) => instantOf(summary.endNs),
      }),
      durationMs: t.float({
        description: 'Time from the earliest start to the latest end, in milliseconds.',
        resolve: ({ summary }) => msBetween(summary.startNs, summary.endNs),
      }),
      status: t.field({
        type: SpanStatusType,
        description:
          'Status of the root span. Until a root span is stored: UNSET in lists and updates, in other fields the status of the earliest span.',
        resolve: ({ summary }) => summary.status,
      }),
      teamId: t.id({
        nullable: true,
        description: 'Team of the key that sent it. Null when the key has none, and when the teams of `owners` differ.',
        resolve: (trace) => commonOwner(trace, 'teamId'),
      }),
      redactedAt: t.field({
        type: 'DateTime',
        nullable: true,
        description: 'When its texts were redacted. Null when they were not.',
        resolve: ({ summary }) => summary.redactedAt,
      }),
      spanCount: count('spanCount', 'Number of spans.'),
      agentNames: t.stringList({
        description: 'Distinct names of its agents, sorted.',
        resolve: ({ summary }) => summary.agentNames,
      }),
      agentInvocations: count('agentInvocations', 'Number of agent spans.'),
      llmCalls: count('llmCalls', 'Number of model calls. A call that several spans describe counts once.'),
      toolCalls: count('toolCalls', 'Number of tool calls.'),
      errorCount: count('errorCount', 'Number of failed spans.'),
      inputTokens: tokens(
        'inputTokens',
        'Input tokens of its model calls; of all its spans while it has no model call.',
      ),
      outputTokens: tokens(
        'outputTokens',
        'Output tokens of its model calls; of all its spans while it has no model call.',
      ),
      models: t.stringList({
        description: 'Distinct models that it called, sorted.',
        resolve: ({ summary }) => summary.models,
      }),
      costUsd: t.field({
        type: 'Decimal',
        nullable: true,
        description:
          'Cost of its priced calls in USD, `estimatedCostUsd` included. Null when no call is priced. A call that the ' +
          'gateway recorded in another trace counts there only, so that sums over traces count it once. `spendRows` ' +
          'of both traces list the call.',
        resolve: ({ summary }) => usdOrNull(summary.spend),
      }),
      pricedCalls: count('pricedCalls', 'Number of calls with a known cost.'),
      estimatedCostUsd: t.field({
        type: 'Decimal',
        nullable: true,
        description:
          'Part of `costUsd` that is estimated from catalog prices, for calls without a record of the gateway. Null when ' +
          'nothing is estimated.',
        resolve: ({ summary }) => usdOrNull(summary.estimate),
      }),
      gatewayCalls: count('gatewayCalls', 'Number of model calls that the gateway made.'),
      estimatedCalls: count('estimatedCalls', 'Number of calls with an estimated cost.'),
      frameworks: t.stringList({
        description: 'Distinct frameworks of its spans, sorted.',
        resolve: ({ summary }) => summary.frameworks,
      }),
      source: t.field({
        type: TraceSourceType,
        nullable: true,
        description: 'Where its run was started. Null when the root span does not state it.',
        resolve: ({ summary }) => summary.source,
      }),
      spans: t.field({
        type: SpanConnectionType,
        nullable: true,
        complexity: ({ first }) => spanPageCost(first, DEFAULT_SPANS),
        description: 'Its spans, ordered by start. Null when they could not be read.',
        args: {
          first: t.arg.int({ description: `Page size, 1 to ${MAX_PAGE_SPANS}; ${DEFAULT_SPANS} when absent.` }),
          after: t.arg.string({ description: AFTER_SPAN }),
        },
        resolve: async (trace, { first, after }, { scope }) => {
          const parts = partsOf(trace);
          const { spanCount } = trace.summary;
          const query = { trace: { parts, spanCount }, cursor: after ?? null, limit: first ?? DEFAULT_SPANS };
          return spanConnectionOf(await listSpans(scope, query), parts);
        },
      }),
      agents: t.field({
        type: [TraceAgentType],
        nullable: true,
        complexity: { field: 1, multiplier: LIST_LENGTH },
        description:
          'Its agents, ordered by first appearance. Null when they could not be read. Reads all of its spans.',
        resolve: (trace, _args, { scope }) => agentsOf(trace, scope.loaders),
      }),
    };
  },
});

builder.queryField('trace', (t) =>
  t.field({
    type: TraceType,
    nullable: true,
    complexity: TRACE_COST,
    description: 'One trace. Null when there is none that the caller may read.',
    args: {
      id: t.arg.id({ required: true, description: TRACE_ID }),
      traceRef: t.arg.id({ description: TRACE_REF }),
    },
    resolve: (_root, { id, traceRef }, { scope }) => findTrace(scope, traceAddressOf(id, traceRef)),
  }),
);
