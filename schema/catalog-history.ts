import {
  type CatalogChangeUpdate,
  type ChangePage,
  listCatalogChanges,
  listHistorySpans,
  watchCatalogChanges,
} from '../resolvers/catalog-history.ts';
import { changeCursorAt } from '../src/domain/catalog/change-cursor.ts';
import { type CatalogChange, fieldKindOf, MAX_CHANGES_PER_EVENT } from '../src/domain/catalog/changes.ts';
import { type ChangeFilters, type HistorySpan, CHANGE_PAGE_SIZE } from '../src/domain/catalog/history.ts';
import { nullIfBlank } from '../src/domain/optional-text.ts';
import { builder } from './base/builder.ts';
import { droppedUpdates } from './base/shared-fields.ts';
import { usdTextOf } from './catalog-price-history.ts';
import { localId } from './base/global-id.ts';
import { type Connection, forwardPage, pageCost } from './base/paging.ts';

const OperationType = builder.enumType('CatalogChangeOperation', {
  description: 'Kind of change of a catalog entry.',
  values: {
    ADDED: { value: 'added', description: 'The entry was added.' },
    REMOVED: { value: 'removed', description: 'The entry was removed.' },
    CHANGED: { value: 'changed', description: 'One field of the entry changed.' },
  } as const,
});

const FieldKindType = builder.enumType('CatalogFieldKind', {
  description: 'Subject of a field of the price map.',
  values: {
    PRICE: { value: 'price', description: 'A price.' },
    LIMIT: { value: 'limit', description: 'A limit, e.g. tokens or requests per minute.' },
    FLAG: { value: 'flag', description: 'A capability.' },
    DATE: { value: 'date', description: 'A date, e.g. of retirement.' },
    PROVIDER: { value: 'provider', description: 'The provider.' },
    MODE: { value: 'mode', description: 'The mode.' },
  } as const,
});

const CatalogChangeType = builder.objectRef<CatalogChange>('CatalogChange').implement({
  description: 'A change of the catalog: an entry is added or removed, or one field of an entry changes.',
  fields: (t) => ({
    at: t.expose('at', {
      type: 'DateTime',
      description: 'When this installation observed the change. For an imported change, the time in the file.',
    }),
    notBefore: t.expose('notBefore', {
      type: 'DateTime',
      nullable: true,
      description:
        'Last observation without the change: the change happened between `notBefore` and `at`. Null when `at` is exact.',
    }),
    entryId: t.exposeID('entryId', { description: 'Entry id. The current catalog may not have the entry.' }),
    provider: t.exposeString('provider', { nullable: true, description: 'Provider of the entry; null when unknown.' }),
    operation: t.expose('op', { type: OperationType, description: 'Kind of change.' }),
    field: t.exposeString('field', {
      nullable: true,
      description: 'Key of the changed field in the price map. Null when the entry was added or removed.',
    }),
    fieldKind: t.field({
      type: FieldKindType,
      nullable: true,
      description: 'Subject of the field. Null when the entry was added or removed.',
      resolve: ({ field }) => (field === null ? null : fieldKindOf(field)),
    }),
    oldValue: t.expose('old', {
      type: 'JSON',
      nullable: true,
      description:
        'Value before the change; null for none. For a removed entry its recorded fields; null when unknown. Numbers are floats.',
    }),
    newValue: t.expose('new', {
      type: 'JSON',
      nullable: true,
      description:
        'Value after the change; null for none. For an added entry its recorded fields; null when unknown. Numbers are floats.',
    }),
    oldPriceUsd: t.field({
      type: 'Decimal',
      nullable: true,
      description:
        'Price before the change in USD. Null when there was none, and when it is not a single amount in USD.',
      resolve: ({ field, old: oldValue }) => usdTextOf(field, oldValue),
    }),
    newPriceUsd: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'Price after the change in USD. Null when there is none, and when it is not a single amount in USD.',
      resolve: ({ field, new: newValue }) => usdTextOf(field, newValue),
    }),
    snapshotId: t.exposeID('snapshotId', {
      nullable: true,
      description: 'Id of the snapshot that introduced the change. Null for imported changes.',
    }),
  }),
});

const HistorySourceType = builder.enumType('CatalogHistorySource', {
  description: 'Source of a part of the history.',
  values: {
    RECORDED: { value: 'recorded', description: 'Observed by this installation.' },
    IMPORTED: { value: 'imported', description: 'Imported from a file.' },
  } as const,
});

// The graph calls a `HistorySpan` a period, because a span of the graph is a step of a trace.
const HistoryPeriodType = builder.objectRef<HistorySpan>('CatalogHistoryPeriod').implement({
  description: 'A period in which every change of the catalog is known.',
  fields: (t) => ({
    source: t.expose('source', { type: HistorySourceType, description: 'Source of this part of the history.' }),
    from: t.expose('from', { type: 'DateTime', description: 'Start.' }),
    to: t.expose('to', { type: 'DateTime', nullable: true, description: 'End. Null for the current period.' }),
  }),
});

const ChangeConnectionType = builder.connectionObject(
  {
    type: CatalogChangeType,
    name: 'CatalogChangeConnection',
    description: 'One page of changes, newest first.',
    fields: (t) => ({
      coverage: t.field({
        type: [HistoryPeriodType],
        nullable: true,
        description: 'Periods that the history covers. Null when they could not be read.',
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
  return forwardPage(edges, { hasNextPage: hasMore });
}

const UpdateType = builder.objectRef<CatalogChangeUpdate>('CatalogChangeUpdate').implement({
  description: 'Changes that one snapshot introduced. A large snapshot is sent as several updates.',
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime', description: 'When the changes were observed.' }),
    snapshotId: t.exposeID('snapshotId', { description: 'Id of the snapshot that introduced the changes.' }),
    changes: t.field({
      type: [CatalogChangeType],
      complexity: { field: 1, multiplier: MAX_CHANGES_PER_EVENT },
      description: `Changes that match the filter, at most ${MAX_CHANGES_PER_EVENT}.`,
      resolve: ({ changes }) => changes,
    }),
    ...droppedUpdates(t),
  }),
});

const ChangeFilterType = builder.inputType('CatalogChangeFilter', {
  description: 'Filter of catalog changes. All conditions must match.',
  fields: (t) => ({
    entryId: t.id({ description: 'Entry id, or global id of the entry.' }),
    provider: t.string({ description: 'Exact provider, case-insensitive.' }),
    field: t.string({ description: 'Exact key of the field in the price map.' }),
    fieldKind: t.field({ type: FieldKindType, description: 'Subject of the field.' }),
    operation: t.field({ type: OperationType, description: 'Kind of change.' }),
  }),
});

type ChangeFilterInput = typeof ChangeFilterType.$inferInput;

const filtersOf = (filter: ChangeFilterInput | null | undefined): Omit<ChangeFilters, 'from' | 'to'> => ({
  entryId: nullIfBlank(localId('CatalogEntry', filter?.entryId)),
  provider: nullIfBlank(filter?.provider),
  field: nullIfBlank(filter?.field),
  kind: filter?.fieldKind ?? null,
  op: filter?.operation ?? null,
});

builder.queryField('catalogChanges', (t) =>
  t.field({
    type: ChangeConnectionType,
    complexity: pageCost,
    description: `Recorded changes of the catalog, newest first. At most ${CHANGE_PAGE_SIZE} a page.`,
    args: {
      filter: t.arg({ type: ChangeFilterType, description: 'All changes when absent.' }),
      from: t.arg({ type: 'DateTime', description: 'Start of the window, inclusive. Unbounded when absent.' }),
      to: t.arg({ type: 'DateTime', description: 'End of the window, exclusive. Unbounded when absent.' }),
      first: t.arg.int({ description: `Page size, 0 to ${CHANGE_PAGE_SIZE}; 50 when absent.` }),
      after: t.arg.string({ description: 'Returns changes after this cursor.' }),
    },
    resolve: (_root, { filter, from, to, first, after }, { scope }) =>
      connectionOf(
        listCatalogChanges(scope, {
          filters: { ...filtersOf(filter), from: from ?? null, to: to ?? null },
          cursor: after ?? null,
          limit: first ?? null,
        }),
      ),
  }),
);

builder.subscriptionField('catalogChangeUpdates', (t) =>
  t.field({
    type: UpdateType,
    description: 'Changes of the catalog as they are recorded.',
    args: { filter: t.arg({ type: ChangeFilterType, description: 'All changes when absent.' }) },
    subscribe: (_root, { filter }, { scope }) => watchCatalogChanges(scope, filtersOf(filter)),
    resolve: (update) => update,
  }),
);
