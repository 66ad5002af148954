import { findPricesAt, listPriceSteps } from '../resolvers/catalog-history.ts';
import {
  type PricesAtInstant,
  type PriceStep,
  type PriceAtInstant,
  usdOfPrice,
} from '../src/domain/catalog/price-history.ts';
import { builder } from './base/builder.ts';
import { decimalText } from './base/decimal.ts';
import { localId } from './base/global-id.ts';
import { LIST_LENGTH } from './base/limits.ts';
import { CatalogEntryType } from './base/refs.ts';

/** A price as exact decimal text; null where it is not a single amount in USD. */
export function usdTextOf(field: string | null, value: unknown): string | null {
  const usd = field === null ? null : usdOfPrice(field, value);
  return usd === null ? null : decimalText(usd);
}

const FIELD = 'Key of the price in the price map, e.g. `input_cost_per_token`.';

// The graph calls a `PriceStep` a period.
const PricePeriodType = builder.objectRef<PriceStep>('PricePeriod').implement({
  description: 'A period in which a price was constant.',
  fields: (t) => ({
    field: t.exposeString('field', { description: FIELD }),
    from: t.expose('from', { type: 'DateTime', description: 'Start, inclusive.' }),
    to: t.expose('to', {
      type: 'DateTime',
      nullable: true,
      description: 'End, exclusive. Null for the current price.',
    }),
    priceUsd: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'The price in USD. Null when there was no price, or it is not a single amount in USD.',
      resolve: ({ field, value }) => usdTextOf(field, value),
    }),
    value: t.expose('value', {
      type: 'JSON',
      nullable: true,
      description: 'The value in the price map. Null when there was no price or no entry. Numbers are floats.',
    }),
  }),
});

const PriceAtType = builder.objectRef<PriceAtInstant>('PriceAt').implement({
  description: 'A price at an instant.',
  fields: (t) => ({
    field: t.exposeString('field', { description: FIELD }),
    known: t.exposeBoolean('known', { description: 'Whether the history covers this price at the instant.' }),
    priceUsd: t.field({
      type: 'Decimal',
      nullable: true,
      description:
        'The price in USD. Null when unknown, when there was none, or when it is not a single amount in USD.',
      resolve: ({ field, value }) => usdTextOf(field, value),
    }),
    value: t.expose('value', {
      type: 'JSON',
      nullable: true,
      description: 'The value in the price map. Null when unknown or when there was none. Numbers are floats.',
    }),
  }),
});

const EntryPricesType = builder.objectRef<PricesAtInstant>('EntryPrices').implement({
  description: 'The prices of a catalog entry at an instant.',
  fields: (t) => ({
    entryId: t.exposeID('entryId', { description: 'Entry id.' }),
    at: t.expose('at', { type: 'DateTime', description: 'The instant.' }),
    listed: t.exposeBoolean('listed', {
      nullable: true,
      description: 'Whether the catalog had the entry. Null when the history does not cover the instant.',
    }),
    prices: t.field({
      type: [PriceAtType],
      description: 'Each price that the entry ever had, at this instant; sorted by key.',
      args: { fields: t.arg.stringList({ description: 'Keys of the prices; all when absent.' }) },
      complexity: { field: 1, multiplier: LIST_LENGTH },
      resolve: ({ prices }, { fields }) => (fields ? prices.filter(({ field }) => fields.includes(field)) : prices),
    }),
  }),
});

const FROM = 'Start, inclusive. The start of the history when absent.';
const TO = 'End, exclusive. The current time when absent.';
const ENTRY_ID = 'Entry id, or global id of the entry.';

builder.objectFields(CatalogEntryType, (t) => ({
  priceHistory: t.field({
    type: [PricePeriodType],
    nullable: true,
    complexity: { field: 1, multiplier: LIST_LENGTH },
    description:
      'Past and current prices of the entry, by key and then by time. In gaps between the periods, prices are unknown. Null when the history could not be read.',
    args: {
      from: t.arg({ type: 'DateTime', description: FROM }),
      to: t.arg({ type: 'DateTime', description: TO }),
    },
    resolve: ({ id }, { from, to }, { scope }) =>
      listPriceSteps(scope, { entryId: id, from: from ?? null, to: to ?? null }),
  }),
  pricesAt: t.field({
    type: EntryPricesType,
    nullable: true,
    description: 'Prices of the entry at an instant. Null when the history could not be read.',
    args: { at: t.arg({ type: 'DateTime', required: true, description: 'The instant.' }) },
    resolve: ({ id }, { at }, { scope }) => findPricesAt(scope, { entryId: id, at }),
  }),
}));

builder.queryFields((t) => ({
  priceHistory: t.field({
    type: [PricePeriodType],
    nullable: true,
    complexity: { field: 1, multiplier: LIST_LENGTH },
    description:
      'Past and current prices of a catalog entry, removed entries included, by key and then by time. In gaps between the periods, prices are unknown. ' +
      'Null for an unknown id, and when the history could not be read.',
    args: {
      entryId: t.arg.id({ required: true, description: ENTRY_ID }),
      from: t.arg({ type: 'DateTime', description: FROM }),
      to: t.arg({ type: 'DateTime', description: TO }),
    },
    resolve: (_root, { entryId, from, to }, { scope }) =>
      listPriceSteps(scope, { entryId: localId('CatalogEntry', entryId), from: from ?? null, to: to ?? null }),
  }),
  pricesAt: t.field({
    type: EntryPricesType,
    nullable: true,
    description:
      'Prices of a catalog entry at an instant, removed entries included. Null for an unknown id, and when the history could not be read.',
    args: {
      entryId: t.arg.id({ required: true, description: ENTRY_ID }),
      at: t.arg({ type: 'DateTime', required: true, description: 'The instant.' }),
    },
    resolve: (_root, { entryId, at }, { scope }) =>
      findPricesAt(scope, { entryId: localId('CatalogEntry', entryId), at }),
  }),
}));
