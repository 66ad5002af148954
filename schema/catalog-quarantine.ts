import { listQuarantined, releaseQuarantined, type ReleasedPrice } from '../resolvers/catalog-quarantine.ts';
import type { QuarantinedPrice } from '../src/domain/catalog/quarantine.ts';
import { NotFound } from '../src/domain/errors.ts';
import { builder } from './base/builder.ts';
import { edgeType, pageType, totalCount } from './base/counted-pages.ts';
import { localId } from './base/global-id.ts';
import { nodesOf } from './base/node-loading.ts';
import { containsText, inOrder, matchesValue, valueOrder } from './base/order.ts';
import { pageCost, pageOf } from './base/paging.ts';
import { CatalogEntryType } from './base/refs.ts';

const QuarantineReasonType = builder.enumType('QuarantineReason', {
  description: 'Why a price is quarantined.',
  values: {
    NOT_A_NUMBER: { value: 'not_a_number', description: 'The value is not a number.' },
    NEGATIVE: { value: 'negative', description: 'The price is below zero.' },
    TOO_HIGH: { value: 'absurd', description: 'The price is above 0.001 USD per token.' },
    CROSSES_ZERO: { value: 'crosses_zero', description: 'The price changed from or to zero.' },
    TEN_FOLD: { value: 'ten_fold', description: 'The price changed by a factor of ten or more.' },
  } as const,
});

const QuarantinedPriceType = builder.objectRef<QuarantinedPrice>('QuarantinedPrice');

builder.node(QuarantinedPriceType, {
  description:
    'A new price that looks like a unit error. It is not served and not used for billing until it is released.',
  id: { resolve: ({ id }) => id },
  loadMany: nodesOf((id, { scope }) => listQuarantined(scope, undefined).find((price) => price.id === id) ?? null),
  fields: (t) => ({
    quarantineId: t.exposeID('id', { description: 'Local id. A new value of the same field has a new id.' }),
    entryId: t.exposeID('entryId', { description: 'Entry id of the price.' }),
    field: t.exposeString('field', { description: 'Key in the price map. A nested price is quarantined as a whole.' }),
    quarantinedValue: t.field({
      type: 'JSON',
      description: 'The value that is not served.',
      resolve: ({ value }) => value,
    }),
    servedValue: t.field({
      type: 'JSON',
      nullable: true,
      description: 'The last accepted value, which is served. Null when the field is served as absent.',
      resolve: ({ served }) => served ?? null,
    }),
    reason: t.expose('reason', { type: QuarantineReasonType, description: 'Why the price is quarantined.' }),
    since: t.expose('since', { type: 'DateTime', description: 'When this value was first quarantined.' }),
  }),
});

const ReleasedPriceType = builder.objectRef<ReleasedPrice>('ReleasedPrice').implement({
  description: 'A price that was released from quarantine.',
  fields: (t) => ({
    price: t.expose('price', { type: QuarantinedPriceType, description: 'The released price.' }),
    entry: t.expose('entry', {
      type: CatalogEntryType,
      nullable: true,
      description: 'The entry with the released price. Null when the catalog no longer has the entry.',
    }),
  }),
});

const QuarantineFilterType = builder.inputType('QuarantinedPriceFilter', {
  description: 'Filter of quarantined prices. All conditions must match; blank text is ignored.',
  fields: (t) => ({
    entryId: t.string({ description: 'Text that the entry id contains; letter case is ignored.' }),
    reason: t.field({ type: QuarantineReasonType, description: 'Why the price is quarantined.' }),
  }),
});

const QuarantineOrderType = valueOrder('QuarantinedPrice', 'quarantined prices', {
  SINCE: { value: 'since', description: 'When the value was first quarantined.' },
  ENTRY_ID: { value: 'entryId', description: 'Entry id.' },
});

const ORDER_VALUES = {
  since: ({ since }: QuarantinedPrice) => since.getTime(),
  entryId: ({ entryId }: QuarantinedPrice) => entryId,
};

const idOf = ({ id }: QuarantinedPrice) => id;

builder.queryField('quarantinedPrices', (t) =>
  t.connection(
    {
      type: QuarantinedPriceType,
      description:
        'Quarantined prices, by default in the order of the price map. For proxy administrators with full or read-only access.',
      complexity: pageCost,
      args: {
        filter: t.arg({ type: QuarantineFilterType, description: 'All quarantined prices when absent.' }),
        orderBy: t.arg({ type: QuarantineOrderType, description: 'The order of the price map when absent.' }),
      },
      resolve(_root, { filter, orderBy, ...args }, { scope }) {
        const quarantined = listQuarantined(scope, undefined).filter(
          ({ entryId, reason }) => containsText(entryId, filter?.entryId) && matchesValue(reason, filter?.reason),
        );
        return pageOf(inOrder(quarantined, orderBy, ORDER_VALUES, idOf), args, idOf);
      },
    },
    {
      ...pageType('QuarantinedPrice', 'quarantined prices'),
      fields: (pageFields) => totalCount(pageFields, 'quarantined prices'),
    },
    edgeType('QuarantinedPrice', 'quarantined price'),
  ),
);

const ReleaseInput = builder.inputType('ReleaseQuarantinedPriceInput', {
  description: 'The price to release.',
  fields: (t) => ({ id: t.id({ required: true, description: 'Global id, or `quarantineId`.' }) }),
});

builder.mutationField('releaseQuarantinedPrice', (t) =>
  t.field({
    type: ReleasedPriceType,
    description:
      'Serves a quarantined price until the source of the catalog changes it again. A restart keeps the release. ' +
      'NotFoundError when the source has changed the value since it was quarantined. For proxy administrators.',
    args: { input: t.arg({ type: ReleaseInput, required: true, description: 'The price.' }) },
    errors: {
      types: [NotFound],
      union: { name: 'ReleaseQuarantinedPriceResult', description: 'The released price, or why it was not released.' },
    },
    resolve: (_root, { input }, { scope }) => releaseQuarantined(scope, localId('QuarantinedPrice', input.id)),
  }),
);
