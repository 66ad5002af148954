import {
  type CatalogChangeUpdate,
  CHANGE_PAGE_SIZE,
  type ChangePage,
  listCatalogChanges,
  listHistorySpans,
  watchCatalogChanges,
} from '../resolvers/catalog-history.ts';
import { changeCursorAt } from '../src/domain/catalog/change-cursor.ts';
import { type CatalogChange, fieldKindOf, NEWS_SIZE } from '../src/domain/catalog/changes.ts';
import type { HistorySpan } from '../src/domain/catalog/history.ts';
import { builder } from './builder.ts';
import { usdTextOf } from './catalog-price-history.ts';
import { type Connection, pageCost } from './paging.ts';

const ChangeOpType = builder.enumType('CatalogChangeOp', {
  description: 'What happened to an entry of the catalog.',
  values: {
    ADDED: { value: 'added', description: 'It came.' },
    REMOVED: { value: 'removed', description: 'It went.' },
    CHANGED: { value: 'changed', description: 'One of its fields took another value.' },
  } as const,
});

const FieldKindType = builder.enumType('CatalogFieldKind', {
  description: 'What a field that history keeps is about.',
  values: {
    PRICE: { value: 'price', description: 'What something costs.' },
    LIMIT: { value: 'limit', description: 'How much is possible, e.g. tokens or requests a minute.' },
    FLAG: { value: 'flag', description: 'What it can do.' },
    DATE: { value: 'date', description: 'When something happens, e.g. its retirement.' },
    PROVIDER: { value: 'provider', description: 'Who offers it.' },
    MODE: { value: 'mode', description: 'What it does.' },
  } as const,
});

const CatalogChangeType = builder.objectRef<CatalogChange>('CatalogChange').implement({
  description: 'One dated fact about the catalog.',
  fields: (t) => ({
    at: t.expose('at', {
      type: 'DateTime',
      description: 'When this installation saw it, or as imported.',
    }),
    notBefore: t.expose('notBefore', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was last seen not to have happened: nobody looked in between. Null when it is dated well.',
    }),
    entryId: t.exposeID('entryId', { description: 'Which entry; it need not be there any more.' }),
    provider: t.exposeString('provider', { nullable: true, description: 'Who offers it, where that is known.' }),
    op: t.expose('op', { type: ChangeOpType, description: 'What happened.' }),
    field: t.exposeString('field', {
      nullable: true,
      description: 'Which field, by its name in the price map; null when the entry came or went.',
    }),
    kind: t.field({
      type: FieldKindType,
      nullable: true,
      description: 'What the field is about; null when the entry came or went.',
      resolve: ({ field }) => (field === null ? null : fieldKindOf(field)),
    }),
    old: t.expose('old', {
      type: 'JSON',
      nullable: true,
      description:
        'The value before. Of an entry that went its fields; null when nobody noted them. Numbers are floats.',
    }),
    new: t.expose('new', {
      type: 'JSON',
      nullable: true,
      description:
        'The value since. Of an entry that came its fields; null when nobody noted them. Numbers are floats.',
    }),
    oldUsd: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'The price before, in USD; null when the field is not one amount in USD.',
      resolve: ({ field, old }) => usdTextOf(field, old),
    }),
    newUsd: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'The price since, in USD; null when the field is not one amount in USD.',
      resolve: ({ field, new: since }) => usdTextOf(field, since),
    }),
    snapshotId: t.exposeID('snapshotId', {
      nullable: true,
      description: 'The state of the catalog it came with; null for what was imported.',
    }),
  }),
});

const SpanSourceType = builder.enumType('CatalogHistorySource', {
  description: 'How a part of the history came about.',
  values: {
    RECORDED: { value: 'recorded', description: 'This installation saw it.' },
    IMPORTED: { value: 'imported', description: 'It was imported from a file.' },
  } as const,
});

const SpanType = builder.objectRef<HistorySpan>('CatalogHistorySpan').implement({
  description: 'A time of which every change of the catalog is known.',
  fields: (t) => ({
    source: t.expose('source', { type: SpanSourceType, description: 'How it came about.' }),
    from: t.expose('from', { type: 'DateTime', description: 'Its beginning.' }),
    to: t.expose('to', { type: 'DateTime', nullable: true, description: 'Its end; null while it goes on.' }),
  }),
});

const ChangeConnectionType = builder.connectionObject(
  {
    type: CatalogChangeType,
    name: 'CatalogChangeConnection',
    description: 'One page of changes, newest first.',
    fields: (t) => ({
      coverage: t.field({
        type: [SpanType],
        nullable: true,
        description: 'The times that history covers; outside them it knows nothing. Null when they could not be read.',
        resolve: (_page, _args, { scope }) => listHistorySpans(scope, undefined),
      }),
    }),
  },
  { name: 'CatalogChangeEdge', description: 'One change of a page.' },
);

async function connectionOf(page: ChangePage | Promise<ChangePage>): Promise<Connection<CatalogChange>> {
  const { items, hasMore } = await page;
  const edges = items.map(({ change, position }) => ({
    node: change,
    get cursor() {
      return changeCursorAt(position);
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

const UpdateType = builder.objectRef<CatalogChangeUpdate>('CatalogChangeUpdate').implement({
  description: 'Changes that were seen at once. A large step of the catalog comes in several updates.',
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime', description: 'When they were seen.' }),
    snapshotId: t.exposeID('snapshotId', { description: 'The state of the catalog they came with.' }),
    changes: t.field({
      type: [CatalogChangeType],
      complexity: { field: 1, multiplier: NEWS_SIZE },
      description: `Those that were asked for, ${NEWS_SIZE} at most.`,
      resolve: ({ changes }) => changes,
    }),
    missed: t.exposeInt('missed', {
      description: 'How many updates were dropped before this one because they were read too slowly.',
    }),
  }),
});

builder.queryField('catalogChanges', (t) =>
  t.field({
    type: ChangeConnectionType,
    complexity: pageCost,
    description: `Changes of the catalog, newest first; every filter given must hold. At most ${CHANGE_PAGE_SIZE} a page.`,
    args: {
      entry: t.arg.id({ description: 'Id of the entry, exactly.' }),
      provider: t.arg.string({ description: 'Equal, letter case ignored.' }),
      field: t.arg.string({ description: 'Name of the field, exactly.' }),
      kind: t.arg({ type: FieldKindType, description: 'What the field is about.' }),
      op: t.arg({ type: ChangeOpType, description: 'What happened.' }),
      from: t.arg({ type: 'DateTime', description: 'Inclusive.' }),
      to: t.arg({ type: 'DateTime', description: 'Exclusive.' }),
      first: t.arg.int({ description: `At most this many, 0 to ${CHANGE_PAGE_SIZE}; 50 when absent.` }),
      after: t.arg.string({ description: 'Only what follows this cursor.' }),
    },
    resolve: (_root, { entry, provider, field, kind, op, from, to, first, after }, { scope }) =>
      connectionOf(
        listCatalogChanges(scope, {
          filters: {
            entryId: entry ?? null,
            provider: provider ?? null,
            field: field ?? null,
            kind: kind ?? null,
            op: op ?? null,
            from: from ?? null,
            to: to ?? null,
          },
          cursor: after ?? null,
          limit: first ?? null,
        }),
      ),
  }),
);

builder.subscriptionField('catalogChanges', (t) =>
  t.field({
    type: UpdateType,
    description: 'Changes of the catalog as they are recorded; every filter given must hold.',
    args: {
      entry: t.arg.id({ description: 'Id of the entry, exactly.' }),
      provider: t.arg.string({ description: 'Equal, letter case ignored.' }),
      field: t.arg.string({ description: 'Name of the field, exactly.' }),
      kind: t.arg({ type: FieldKindType, description: 'What the field is about.' }),
      op: t.arg({ type: ChangeOpType, description: 'What happened.' }),
    },
    subscribe: (_root, { entry, provider, field, kind, op }, { scope }) =>
      watchCatalogChanges(scope, {
        entryId: entry ?? null,
        provider: provider ?? null,
        field: field ?? null,
        kind: kind ?? null,
        op: op ?? null,
      }),
    resolve: (update) => update,
  }),
);
