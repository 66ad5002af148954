import { listQuarantined, releaseQuarantined, type ReleasedPrice } from '../resolvers/catalog-quarantine.ts';
import type { HeldPrice } from '../src/domain/catalog/quarantine.ts';
import { NotFound } from '../src/domain/errors.ts';
import { builder } from './builder.ts';
import { pageCost, pageOf } from './paging.ts';
import { CatalogEntryType } from './refs.ts';

const QuarantineReasonType = builder.enumType('QuarantineReason', {
  description: 'Why a price is kept out of the catalog.',
  values: {
    NOT_A_NUMBER: { value: 'not_a_number', description: 'It is no number.' },
    NEGATIVE: { value: 'negative', description: 'It is below zero.' },
    ABSURD: { value: 'absurd', description: 'It is more than 0.001 USD for one token.' },
    CROSSES_ZERO: { value: 'crosses_zero', description: 'It became free, or ceased to be.' },
    TEN_FOLD: { value: 'ten_fold', description: 'It moved ten-fold or more at once.' },
  } as const,
});

const QuarantinedPriceType = builder.objectRef<HeldPrice>('QuarantinedPrice').implement({
  description: 'A price of the price map that looks like a unit mistake. It is not served and never bills.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Names this value of this field: another value has another id.' }),
    entryId: t.exposeID('entryId', { description: 'The entry it is a price of.' }),
    field: t.exposeString('field', { description: 'Its key in the price map. Nested prices are held whole.' }),
    heldValue: t.field({
      type: 'JSON',
      description: 'The value that is kept out.',
      resolve: ({ value }) => value,
    }),
    servedValue: t.field({
      type: 'JSON',
      nullable: true,
      description: 'The last accepted value, which is served instead; null when the field is served as absent.',
      resolve: ({ served }) => served ?? null,
    }),
    reason: t.expose('reason', { type: QuarantineReasonType, description: 'Why.' }),
    since: t.expose('since', { type: 'DateTime', description: 'When this value was first kept out.' }),
  }),
});

const ReleasedPriceType = builder.objectRef<ReleasedPrice>('ReleasedPrice').implement({
  description: 'A price that is served from now on.',
  fields: (t) => ({
    price: t.expose('price', { type: QuarantinedPriceType, description: 'What was held.' }),
    entry: t.expose('entry', {
      type: CatalogEntryType,
      nullable: true,
      description: 'The entry as it is served now; null when it left the catalog meanwhile.',
    }),
  }),
});

builder.queryField('quarantinedPrices', (t) =>
  t.connection(
    {
      type: QuarantinedPriceType,
      description: 'Prices that are kept out of the catalog, in its order. For administrators, read-only ones too.',
      complexity: pageCost,
      resolve(_root, args, { scope }) {
        const held = listQuarantined(scope, undefined);
        return { ...pageOf(held, args, ({ id }) => id), totalCount: held.length };
      },
    },
    {
      name: 'QuarantinedPriceConnection',
      description: 'One page of prices that are kept out.',
      fields: (connection) => ({
        totalCount: connection.int({
          description: 'How many are kept out.',
          resolve: ({ totalCount }) => totalCount,
        }),
      }),
    },
    { name: 'QuarantinedPriceEdge', description: 'One price of a page.' },
  ),
);

builder.mutationField('releaseQuarantined', (t) =>
  t.field({
    type: ReleasedPriceType,
    description:
      'Serves a held price, over restarts too, until upstream changes it again. For proxy administrators. Exactly the ' +
      'value that was looked at: when upstream has changed it meanwhile, nothing is released.',
    args: { id: t.arg.id({ required: true, description: 'Of the quarantined price.' }) },
    errors: {
      types: [NotFound],
      union: { name: 'ReleaseQuarantinedResult', description: 'The released price, or why there is none.' },
    },
    resolve: (_root, { id }, { scope }) => releaseQuarantined(scope, id),
  }),
);
