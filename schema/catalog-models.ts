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
import { builder } from './builder.ts';
import { CapabilityType, SNAPSHOT_ARG } from './catalog-search.ts';
import { CatalogSnapshotType } from './catalog.ts';
import { LIST_COST, SEARCH_COST } from './limits.ts';
import { type PageArgs, pageCost, pageOf } from './paging.ts';
import { CatalogEntryType } from './refs.ts';

const ModelType = builder.objectRef<Model>('Model').implement({
  description:
    'One logical model, joined from all entries of the catalog that offer it: whichever host, region, size or contract. ' +
    'A dated snapshot is a model of its own.',
  fields: (t) => ({
    name: t.exposeID('name', { description: 'Unique, in lower case: `claude-sonnet-4.5`.' }),
    offers: t.field({
      type: [CatalogEntryType],
      description: "Every entry that offers it, in the catalog's order.",
      complexity: { field: 1, multiplier: LIST_COST },
      resolve: ({ offers }) => [...offers],
    }),
    offerCount: t.int({ description: 'How many entries offer it.', resolve: ({ offers }) => offers.length }),
    providers: t.stringList({ description: 'Who offers it, each once.', resolve: (model) => [...providersOf(model)] }),
    modes: t.stringList({
      description: 'What it does, in the words of its offers; hosts do not always agree.',
      resolve: (model) => [...modesOf(model)],
    }),
    capabilitiesOfAll: t.field({
      type: [CapabilityType],
      description: 'What every offer is said to have.',
      resolve: (model) => [...capabilitiesOf(model, 'all')],
    }),
    capabilitiesOfAny: t.field({
      type: [CapabilityType],
      description: 'What at least one offer is said to have.',
      resolve: (model) => [...capabilitiesOf(model, 'any')],
    }),
    maxContextWindow: t.int({
      nullable: true,
      description: 'The largest context window of its offers, in tokens.',
      resolve: maxContextWindowOf,
    }),
    cheapestInput: t.field({
      type: CatalogEntryType,
      nullable: true,
      description:
        'The offer with the lowest price of an input token above zero. Zero is passed over: the price map writes it ' +
        'for what is free as for what nobody looked up.',
      resolve: (model) => cheapestOf(model, 'input'),
    }),
    cheapestOutput: t.field({
      type: CatalogEntryType,
      nullable: true,
      description: 'The offer with the lowest price of an output token above zero.',
      resolve: (model) => cheapestOf(model, 'output'),
    }),
  }),
});

builder.objectField(CatalogEntryType, 'model', (t) =>
  t.field({
    type: ModelType,
    nullable: true,
    description: 'The logical model it offers, as the catalog knows it now.',
    resolve: (entry, _args, { scope }) => findModelOfEntry(scope, entry),
  }),
);

const modelConnection = ({ models, snapshot }: FoundModels, args: PageArgs) => ({
  ...pageOf(models, args, ({ name }) => name),
  totalCount: models.length,
  snapshot,
});

builder.queryFields((t) => ({
  model: t.field({
    type: ModelType,
    nullable: true,
    description: 'One logical model. Null when the catalog has no offer of it.',
    args: { name: t.arg.id({ required: true, description: 'Its name, or the id of one of its offers.' }) },
    resolve: (_root, { name }, { scope }) => findCatalogModel(scope, name),
  }),
  models: t.connection(
    {
      type: ModelType,
      description: 'The logical models of the catalog, in the order of their first offers. At most 500 a page.',
      complexity: (page) => ({ ...pageCost(page), field: SEARCH_COST }),
      args: {
        search: t.arg.string({ description: 'Part of the name, letter case ignored.' }),
        provider: t.arg.string({ description: 'Has an offer of this provider, letter case ignored.' }),
        mode: t.arg.string({ description: 'Has an offer of this mode, letter case ignored.' }),
        minOffers: t.arg.int({ description: 'Has at least so many offers.' }),
        snapshot: t.arg.id({ description: SNAPSHOT_ARG }),
      },
      resolve: async (_root, { search, provider, mode, minOffers, snapshot, ...page }, { scope }) =>
        modelConnection(
          await findCatalogModels(scope, {
            search: search ?? null,
            provider: provider ?? null,
            mode: mode ?? null,
            minOffers: minOffers ?? null,
            pin: snapshot ?? null,
          }),
          page,
        ),
    },
    {
      name: 'ModelConnection',
      description: 'One page of models.',
      fields: (connection) => ({
        totalCount: connection.int({
          description: 'How many models pass the filters.',
          resolve: ({ totalCount }) => totalCount,
        }),
        snapshot: connection.field({
          type: CatalogSnapshotType,
          description: 'The state of the catalog this page is from.',
          resolve: ({ snapshot }) => snapshot,
        }),
      }),
    },
    { name: 'ModelEdge', description: 'One model of a page.' },
  ),
}));
