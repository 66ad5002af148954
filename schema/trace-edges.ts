import type { Loaders } from '../resolvers/operation/loaders.ts';
import { findEntryOfCall } from '../resolvers/trace-edges.ts';
import type { TraceBooks } from '../resolvers/trace-books.ts';
import { searchTraces } from '../resolvers/trace-search.ts';
import { usdText, type Usd } from '../src/domain/money.ts';
import { sortedParts } from '../src/domain/traces/assemble-trace.ts';
import type { CallSpend } from '../src/domain/traces/call-spend.ts';
import { type TraceIdentity, TRACE_PAGE_SIZE } from '../src/domain/traces/trace.ts';
import { NO_FILTERS } from '../src/domain/traces/trace-search.ts';
import { builder } from './builder.ts';
import { LIST_COST } from './limits.ts';
import {
  CatalogEntryType,
  commonOwner,
  type KnownOfAgent,
  type KnownOfTrace,
  partsOf,
  SpendRowType,
  TraceAgentType,
  TraceType,
  VirtualKeyType,
} from './refs.ts';
import { SpanHeadType } from './spans.ts';
import { connectionOfSearch, TraceConnectionType } from './traces.ts';

const moneyText = (amount: Usd | null | undefined): string | null =>
  amount === null || amount === undefined ? null : usdText(amount);

const MatchType = builder.enumType('SpendMatchKind', {
  description: 'What was found of a model call in the books.',
  values: {
    MATCHED: { value: 'matched', description: 'One row.' },
    NO_CALL_ID: { value: 'no_call_id', description: 'Nothing on the span leads to one.' },
    NO_SPEND_LOG: { value: 'no_spend_log', description: 'It names an answer that no row has.' },
    INCOMPLETE_EVIDENCE: {
      value: 'incomplete_evidence',
      description: 'It names an answer that was not looked for everywhere: more than 1,000 calls of its trace do.',
    },
    AMBIGUOUS: { value: 'ambiguous', description: 'More than one could be it.' },
  } as const,
});

const CostSourceType = builder.enumType('CostSource', {
  description: 'Where a cost is from.',
  values: {
    GATEWAY: { value: 'gateway', description: 'What the gateway charged.' },
    ESTIMATED: { value: 'estimated', description: 'What the catalog said such a call costs.' },
  } as const,
});

const SpendMatchType = builder.objectRef<CallSpend>('SpendMatch').implement({
  description: "A model call in the gateway's books.",
  fields: (t) => ({
    match: t.expose('match', { type: MatchType, description: 'What was found.' }),
    spendRow: t.field({
      type: SpendRowType,
      nullable: true,
      description: 'The row that was found; it may be of a span in another trace.',
      resolve: ({ row }) => row,
    }),
    costUsd: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'What the row says it cost, else an estimate that counts; null when neither is there.',
      resolve: ({ cost }) => moneyText(cost),
    }),
    costSource: t.expose('source', { type: CostSourceType, nullable: true, description: 'Where the cost is from.' }),
  }),
});

builder.interfaceFields(SpanHeadType, (t) => ({
  catalogEntry: t.field({
    type: CatalogEntryType,
    nullable: true,
    description: 'The catalog entry of its model at its provider; null when none is certain.',
    resolve: ({ model, provider }, _args, { scope }) =>
      model === null ? null : findEntryOfCall(scope, { models: [model], provider }),
  }),
  spendMatch: t.field({
    type: SpendMatchType,
    nullable: true,
    description: 'What the books say of a model call; null for other spans, and when they could not be read.',
    resolve: async ({ spanId, within }, _args, { scope }) =>
      within === undefined ? null : ((await scope.loaders.booksByTrace.load(within)).calls.get(spanId) ?? null),
  }),
}));

const TeamType = builder.objectRef<{ readonly id: string }>('Team').implement({
  description: 'A team whose keys send traces.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id.' }),
    traces: t.field({
      type: TraceConnectionType,
      description: 'Its traces of a day, newest first, as far as they may be seen. At most 50 a page.',
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
        after: t.arg.string({ description: 'Only what follows this cursor.' }),
      },
      resolve: ({ id }, { from, to, first, after }, { scope }) =>
        connectionOfSearch(
          searchTraces(scope, {
            startMs: from?.getTime() ?? null,
            endMs: to?.getTime() ?? null,
            cursor: after ?? null,
            limit: first ?? TRACE_PAGE_SIZE,
            filters: { ...NO_FILTERS, teamId: id },
            order: 'start',
          }),
        ),
    }),
  }),
});

const TraceOwnerType = builder.objectRef<TraceIdentity>('TraceOwner').implement({
  description: 'A key that sent a trace id, and the part of the trace that is from it.',
  fields: (t) => ({
    traceRef: t.exposeID('traceRef', { description: 'Finds just this part.' }),
    teamId: t.id({
      description: 'The team of the key; empty when it has none.',
      resolve: ({ owner }) => owner.teamId ?? '',
    }),
    keyHash: t.id({ description: 'Hash of the key.', resolve: ({ owner }) => owner.keyHash }),
  }),
});

builder.objectFields(TraceType, (t) => {
  const books = (trace: KnownOfTrace, scope: { readonly loaders: Loaders }): Promise<TraceBooks> =>
    scope.loaders.booksByTrace.load(partsOf(trace));
  return {
    owners: t.field({
      type: [TraceOwnerType],
      description:
        'Who sent it, by team: one for each key that sent its id, as far as the caller may see. Several when it was read without a ref and is merged.',
      resolve: (trace) => sortedParts(partsOf(trace)),
    }),
    keyHash: t.id({
      description: 'Hash of the key that sent it; empty when several did: see `owners`.',
      resolve: (trace) => commonOwner(trace, 'keyHash') ?? '',
    }),
    key: t.field({
      type: VirtualKeyType,
      nullable: true,
      description:
        'The key that sent it; null when several did, and when the caller may not see it: administrators see every one, a key without a team its own.',
      resolve: (trace, _args, { scope }) => {
        const hash = commonOwner(trace, 'keyHash');
        return hash === null ? null : scope.loaders.keyByHash.load(hash);
      },
    }),
    team: t.field({
      type: TeamType,
      nullable: true,
      description: 'The team whose key sent it; null when the key has none, and when keys of several teams sent it.',
      resolve: (trace) => {
        const id = commonOwner(trace, 'teamId');
        return id === null ? null : { id };
      },
    }),
    catalogEntries: t.field({
      type: [CatalogEntryType],
      nullable: true,
      complexity: { field: 1, multiplier: LIST_COST },
      description: 'The catalog entries of the models it called, as far as they are certain.',
      resolve: async (trace, _args, { scope }) => {
        const { spans } = await books(trace, scope);
        const found = spans.flatMap(({ model, provider }) =>
          model === null ? [] : (findEntryOfCall(scope, { models: [model], provider }) ?? []),
        );
        return [...new Set(found)];
      },
    }),
    spendRows: t.field({
      type: [SpendRowType],
      nullable: true,
      complexity: { field: 1, multiplier: LIST_COST },
      description: 'What the gateway recorded of its model calls, each row once, wherever it was recorded.',
      resolve: async (trace, _args, { scope }) => {
        const { calls } = await books(trace, scope);
        const rows = [...calls.values()].flatMap(({ row }) => row ?? []);
        return [...new Map(rows.map((row) => [row.id, row])).values()];
      },
    }),
  };
});

builder.objectFields(TraceAgentType, (t) => {
  const spendOf = async ({ name, within }: KnownOfAgent, scope: { readonly loaders: Loaders }) =>
    (await scope.loaders.booksByTrace.load(within)).agentSpend.get(name) ?? null;
  return {
    spendUsd: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'Sum over its priced calls, each once; null when none is priced.',
      resolve: async (agent, _args, { scope }) => moneyText((await spendOf(agent, scope))?.spend),
    }),
    pricedCalls: t.int({
      description: 'How many of its calls are priced.',
      resolve: async (agent, _args, { scope }) => (await spendOf(agent, scope))?.pricedCalls ?? 0,
    }),
    estimatedCalls: t.int({
      description: 'How many of its priced calls are estimated.',
      resolve: async (agent, _args, { scope }) => (await spendOf(agent, scope))?.estimatedCalls ?? 0,
    }),
  };
});
