import {
  findCatalogModel,
  findCatalogModels,
  findModelOfEntry,
  type FoundModels,
} from '../resolvers/catalog-models.ts';
import {
  capabilitiesOf,
  cheapestOf,
  maxContextWindowOf,
  type Model,
  modesOf,
  providersOf,
} from '../src/domain/catalog/models.ts';
import { nullIfBlank } from '../src/domain/optional-text.ts';
import { builder } from './base/builder.ts';
import { CapabilityType, SNAPSHOT_ARG } from './base/catalog-search.ts';
import { CatalogSnapshotType, pinOf } from './catalog.ts';
import { localId } from './base/global-id.ts';
import { LIST_LENGTH, SEARCH_COST } from './base/limits.ts';
import { nodesOf } from './base/node-loading.ts';
import { inOrder, valueOrder } from './base/order.ts';
import { type PageArgs, pageCost, pageOf } from './base/paging.ts';
import { CatalogEntryType } from './base/refs.ts';

const ModelType = builder.objectRef<Model>('Model');

const ModelFilterType = builder.inputType('ModelFilter', {
  description: 'Filter of logical models. All conditions must match.',
  fields: (t) => ({
    text: t.string({ description: 'Substring of the name, case-insensitive.' }),
    provider: t.string({ description: 'At least one offer is from this provider, case-insensitive.' }),
    mode: t.string({ description: 'At least one offer has this mode, case-insensitive.' }),
    minOffers: t.int({ description: 'Minimum number of offers.' }),
  }),
});

builder.node(ModelType, {
  description:
    'A logical model: all catalog entries that offer it, by any provider, region, size or contract. A dated version is ' +
    'a separate model.',
  id: { resolve: ({ name }) => name },
  loadMany: nodesOf((id, { scope }) => findCatalogModel(scope, id)),
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Unique name in lower case: `claude-sonnet-4.5`.' }),
    offers: t.field({
      type: [CatalogEntryType],
      description: 'Catalog entries that offer the model, in the order of the price map.',
      complexity: { field: 1, multiplier: LIST_LENGTH },
      resolve: ({ offers }) => [...offers],
    }),
    offerCount: t.int({ description: 'Number of offers.', resolve: ({ offers }) => offers.length }),
    providers: t.stringList({
      description: 'Distinct providers of the offers.',
      resolve: (model) => [...providersOf(model)],
    }),
    modes: t.stringList({
      description: 'Distinct modes of the offers. Providers may state different modes for one model.',
      resolve: (model) => [...modesOf(model)],
    }),
    capabilitiesOfAll: t.field({
      type: [CapabilityType],
      description: 'Capabilities that every offer states.',
      resolve: (model) => [...capabilitiesOf(model, 'all')],
    }),
    capabilitiesOfAny: t.field({
      type: [CapabilityType],
      description: 'Capabilities that at least one offer states.',
      resolve: (model) => [...capabilitiesOf(model, 'any')],
    }),
    maxContextWindow: t.int({
      nullable: true,
      description: 'Largest context window of the offers, in tokens. Null when no offer states one.',
      resolve: maxContextWindowOf,
    }),
    cheapestInput: t.field({
      type: CatalogEntryType,
      nullable: true,
      description:
        'The offer with the lowest input price above zero. The price map writes zero for free and for unknown prices, ' +
        'so zero is ignored. Null when no offer has such a price.',
      resolve: (model) => cheapestOf(model, 'input'),
    }),
    cheapestOutput: t.field({
      type: CatalogEntryType,
      nullable: true,
      description: 'The offer with the lowest output price above zero. Null when no offer has such a price.',
      resolve: (model) => cheapestOf(model, 'output'),
    }),
  }),
});

builder.objectField(CatalogEntryType, 'model', (t) =>
  t.field({
    type: ModelType,
    nullable: true,
    description: 'The logical model of this entry. Null when the current snapshot no longer has the entry.',
    resolve: (entry, _args, { scope }) => findModelOfEntry(scope, entry),
  }),
);

const ModelOrderType = valueOrder('Model', 'logical models', {
  NAME: { value: 'name', description: 'Name.' },
  OFFERS: { value: 'offers', description: 'Number of offers.' },
  CONTEXT_WINDOW: {
    value: 'window',
    description: 'Largest context window of the offers; models without one are the smallest.',
  },
});

const ORDER_VALUES = {
  name: ({ name }: Model) => name,
  offers: ({ offers }: Model) => offers.length,
  window: (model: Model) => maxContextWindowOf(model) ?? 0,
};

const modelConnection = ({ models, snapshot }: FoundModels, args: PageArgs) => ({
  ...pageOf(models, args, ({ name }) => name),
  snapshot,
});

builder.queryFields((t) => ({
  model: t.field({
    type: ModelType,
    nullable: true,
    description: 'One logical model. Null when no entry of the current snapshot offers it.',
    args: { name: t.arg.id({ required: true, description: 'Its name, its global id, or the entry id of an offer.' }) },
    resolve: (_root, { name }, { scope }) => findCatalogModel(scope, localId('Model', name)),
  }),
  models: t.connection(
    {
      type: ModelType,
      description: 'Logical models, by default in the order of their first offers. At most 500 a page.',
      complexity: (args) => ({ ...pageCost(args), field: SEARCH_COST }),
      args: {
        filter: t.arg({ type: ModelFilterType, description: 'All models when absent.' }),
        orderBy: t.arg({ type: ModelOrderType, description: 'The order of their first offers when absent.' }),
        snapshotId: t.arg.id({ description: SNAPSHOT_ARG }),
      },
      resolve: async (_root, { filter, orderBy, snapshotId, ...pageArgs }, { scope }) => {
        const { models, ...found } = await findCatalogModels(scope, {
          search: nullIfBlank(filter?.text),
          provider: nullIfBlank(filter?.provider),
          mode: nullIfBlank(filter?.mode),
          minOffers: filter?.minOffers ?? null,
          pin: pinOf(snapshotId),
        });
        return modelConnection(
          { ...found, models: inOrder(models, orderBy, ORDER_VALUES, ({ name }) => name) },
          pageArgs,
        );
      },
    },
    {
      name: 'ModelConnection',
      description: 'One page of logical models.',
      fields: (connectionFields) => ({
        totalCount: connectionFields.int({
          description: 'Number of models that match the filter, on all pages.',
          resolve: ({ totalCount }) => totalCount,
        }),
        snapshot: connectionFields.field({
          type: CatalogSnapshotType,
          description: 'Snapshot that this page shows.',
          resolve: ({ snapshot }) => snapshot,
        }),
      }),
    },
    { name: 'ModelEdge', description: 'One logical model of a page.' },
  ),
}));
