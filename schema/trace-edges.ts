import { findTeam } from '../resolvers/nodes.ts';
import type { Loaders } from '../resolvers/operation/loaders.ts';
import { findEntryOfCall } from '../resolvers/trace-edges.ts';
import type { TraceAccounts } from '../resolvers/operation/trace-accounts.ts';
import { sortedParts } from '../src/domain/traces/assemble-trace.ts';
import type { CallSpend } from '../src/domain/traces/call-spend.ts';
import { type CostReason, costReasonOfTrace } from '../src/domain/traces/cost-reason.ts';
import { type TraceIdentity, TRACE_PAGE_SIZE } from '../src/domain/traces/trace.ts';
import { builder } from './base/builder.ts';
import { LIST_LENGTH } from './base/limits.ts';
import { nodesOf } from './base/node-loading.ts';
import {
  CatalogEntryType,
  commonOwner,
  type PartialTrace,
  partsOf,
  SpanType,
  SpendRowType,
  TeamType,
  TraceType,
  VirtualKeyType,
} from './base/refs.ts';
import { usdOrNull } from './base/decimal.ts';
import { TraceConnectionType, tracePageCost, tracesOfTeam } from './trace-list.ts';
import { TraceFilterType, TraceOrderType, windowArgs } from './trace-search.ts';

const MatchType = builder.enumType('SpendMatchKind', {
  description: 'Result of matching a model call with the spend rows.',
  values: {
    MATCHED: { value: 'matched', description: 'One row matches.' },
    NO_CALL_ID: { value: 'no_call_id', description: 'The span has no response id and no call id.' },
    NO_SPEND_LOG: { value: 'no_spend_log', description: 'No row has the ids of the span.' },
    INCOMPLETE_EVIDENCE: {
      value: 'incomplete_evidence',
      description: 'Other traces were not searched: more than 1,000 calls of the trace have ids and no row.',
    },
    AMBIGUOUS: { value: 'ambiguous', description: 'Several rows match.' },
  } as const,
});

const CostSourceType = builder.enumType('CostSource', {
  description: 'Source of a cost.',
  values: {
    GATEWAY: { value: 'gateway', description: 'Charged by the gateway.' },
    ESTIMATED: { value: 'estimated', description: 'Estimated from catalog prices.' },
    ESTIMATED_UPPER: {
      value: 'estimated_upper',
      description:
        'Estimated from catalog prices with the full price for all input tokens: the span does not tell which of them were cached.',
    },
  } as const,
});

const CostReasonType = builder.enumType('CostReason', {
  description: 'Reason why a cost is missing.',
  values: {
    NO_MODEL_CALLS: { value: 'no_model_calls', description: 'The trace has no model call.' },
    NO_USAGE: { value: 'no_usage', description: 'The span of a call has no input tokens.' },
    NO_MODEL: { value: 'no_model', description: 'The span of a call names no model.' },
    UNKNOWN_MODEL: {
      value: 'unknown_model',
      description: 'The catalog has no unambiguous entry for the model and provider of a call.',
    },
    NO_PRICE: { value: 'no_price', description: 'No price is known for the tokens of a call.' },
    AMBIGUOUS: { value: 'ambiguous', description: 'Several spend rows match a call.' },
  } as const satisfies Record<Uppercase<CostReason>, { readonly value: CostReason; readonly description: string }>,
});

const SpendMatchType = builder.objectRef<CallSpend>('SpendMatch').implement({
  description: 'The match of a model call with the spend rows.',
  fields: (t) => ({
    match: t.expose('match', { type: MatchType, description: 'Result.' }),
    spendRow: t.field({
      type: SpendRowType,
      nullable: true,
      description: 'The matching row, which may belong to a span of another trace. Null unless MATCHED.',
      resolve: ({ row }) => row,
    }),
    costUsd: t.field({
      type: 'Decimal',
      nullable: true,
      description:
        'Cost in USD of the row; without a row, the cost that the gateway recorded with the span, else an estimate. Null when ' +
        'unknown, and when another span of the call has the estimate.',
      resolve: ({ cost }) => usdOrNull(cost),
    }),
    costSource: t.expose('source', {
      type: CostSourceType,
      nullable: true,
      description: 'Source of the cost. Null without a cost.',
    }),
  }),
});

builder.objectFields(SpanType, (t) => ({
  catalogEntry: t.field({
    type: CatalogEntryType,
    nullable: true,
    description: 'Catalog entry of its model at its provider. Null without an unambiguous entry.',
    resolve: ({ model, provider }, _args, { scope }) =>
      model === null ? null : findEntryOfCall(scope, { models: [model], provider }),
  }),
  spendMatch: t.field({
    type: SpendMatchType,
    nullable: true,
    description:
      'Match of a model call with the spend rows. Null for other spans, and when the rows could not be read.',
    resolve: async ({ spanId, within }, _args, { scope }) =>
      (await scope.loaders.accountsByTrace.load(within)).calls.get(spanId) ?? null,
  }),
}));

builder.node(TeamType, {
  description: 'A team of keys.',
  id: { resolve: ({ id }) => id },
  loadMany: nodesOf((id, { scope }) => findTeam(scope, id)),
  fields: (t) => ({
    teamId: t.exposeID('id', { description: 'Local id, as keys and filters have it.' }),
    traces: t.field({
      type: TraceConnectionType,
      description: `Traces of the team that the caller may read, newest first by default. At most ${TRACE_PAGE_SIZE} a page.`,
      complexity: tracePageCost,
      args: {
        ...windowArgs(),
        first: t.arg.int({ description: `Page size, 1 to ${TRACE_PAGE_SIZE}; ${TRACE_PAGE_SIZE} when absent.` }),
        after: t.arg.string({
          description: 'Returns traces after this cursor. The filter must be that of the previous page.',
        }),
        filter: t.arg({ type: TraceFilterType, description: 'All traces of the team when absent.' }),
        orderBy: t.arg({ type: TraceOrderType, description: 'Newest first when absent.' }),
      },
      resolve: ({ id }, args, { scope }) => tracesOfTeam(scope, id, args),
    }),
  }),
});

const TraceOwnerType = builder.objectRef<TraceIdentity>('TraceOwner').implement({
  description: 'A key that sent spans of a trace.',
  fields: (t) => ({
    traceRef: t.exposeID('traceRef', { description: 'Ref of the spans of this key: pass it as `traceRef`.' }),
    teamId: t.id({
      nullable: true,
      description: 'Team of the key. Null when it has none.',
      resolve: ({ owner }) => owner.teamId,
    }),
    keyHash: t.id({ description: 'Hash of the key.', resolve: ({ owner }) => owner.keyHash }),
  }),
});

builder.objectFields(TraceType, (t) => {
  const accounts = (trace: PartialTrace, scope: { readonly loaders: Loaders }): Promise<TraceAccounts> =>
    scope.loaders.accountsByTrace.load(partsOf(trace));
  return {
    owners: t.field({
      type: [TraceOwnerType],
      description:
        'Keys that sent its spans and that the caller may read, ordered by team. Several for a merged trace.',
      resolve: (trace) => sortedParts(partsOf(trace)),
    }),
    keyHash: t.id({
      nullable: true,
      description: 'Hash of the key that sent it. Null when several did: see `owners`.',
      resolve: (trace) => commonOwner(trace, 'keyHash'),
    }),
    key: t.field({
      type: VirtualKeyType,
      nullable: true,
      description:
        'The key that sent it. Null when several did, and when the caller may not read it: administrators read all keys, a key without a team reads itself.',
      resolve: (trace, _args, { scope }) => {
        const hash = commonOwner(trace, 'keyHash');
        return hash === null ? null : scope.loaders.keyByHash.load(hash);
      },
    }),
    team: t.field({
      type: TeamType,
      nullable: true,
      description: 'Team of the key that sent it. Null when the key has none, and when the teams of `owners` differ.',
      resolve: (trace) => {
        const id = commonOwner(trace, 'teamId');
        return id === null ? null : { id };
      },
    }),
    costReason: t.field({
      type: CostReasonType,
      nullable: true,
      complexity: { field: 1, multiplier: LIST_LENGTH },
      description:
        'Why `costUsd` is missing or incomplete: there is no model call, or the reason of the first call without a cost. Null ' +
        'when every call has a cost, and when the calls could not be read. Reads all spans of the trace.',
      resolve: async (trace, _args, { scope }) => {
        const { spans, calls } = await accounts(trace, scope);
        return costReasonOfTrace(spans, calls, (call) => findEntryOfCall(scope, call) !== null);
      },
    }),
    catalogEntries: t.field({
      type: [CatalogEntryType],
      nullable: true,
      complexity: { field: 1, multiplier: LIST_LENGTH },
      description:
        'Distinct catalog entries of its model calls. A call without an unambiguous entry adds none. Null when the calls could not be read.',
      resolve: async (trace, _args, { scope }) => {
        const { spans } = await accounts(trace, scope);
        const found = spans.flatMap(({ model, provider }) =>
          model === null ? [] : (findEntryOfCall(scope, { models: [model], provider }) ?? []),
        );
        return [...new Set(found)];
      },
    }),
    spendRows: t.field({
      type: [SpendRowType],
      nullable: true,
      complexity: { field: 1, multiplier: LIST_LENGTH },
      description:
        'Distinct spend rows of its model calls, also rows of spans in other traces. Null when the rows could not be read.',
      resolve: async (trace, _args, { scope }) => {
        const { calls } = await accounts(trace, scope);
        const rows = [...calls.values()].flatMap(({ row }) => row ?? []);
        return [...new Map(rows.map((row) => [row.id, row])).values()];
      },
    }),
  };
});
