import { findPricesAt, listPriceSteps } from '../resolvers/catalog-history.ts';
import { type PricesThen, type PriceStep, type PriceThen, usdOf } from '../src/domain/catalog/price-history.ts';
import { builder } from './builder.ts';
import { decimalText } from './decimal.ts';
import { LIST_COST } from './limits.ts';
import { CatalogEntryType } from './refs.ts';

/** A price as exact decimal text; null where it is not one amount in USD. */
export function usdTextOf(field: string | null, value: unknown): string | null {
  const usd = field === null ? null : usdOf(field, value);
  return usd === null ? null : decimalText(usd);
}

const PriceStepType = builder.objectRef<PriceStep>('PriceStep').implement({
  description: 'A stretch of time in which a price stood.',
  fields: (t) => ({
    field: t.exposeString('field', { description: 'Which price, by its name in the price map.' }),
    from: t.expose('from', { type: 'DateTime', description: 'Inclusive.' }),
    to: t.expose('to', { type: 'DateTime', nullable: true, description: 'Exclusive; null while it stands.' }),
    usd: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'In USD; null when there was no such price, or it is not one amount in USD.',
      resolve: ({ field, value }) => usdTextOf(field, value),
    }),
    value: t.expose('value', {
      type: 'JSON',
      nullable: true,
      description: 'As the price map has it; null when there was no such price or no such entry. Numbers are floats.',
    }),
  }),
});

const PriceThenType = builder.objectRef<PriceThen>('PriceThen').implement({
  description: 'A price as it stood at an instant.',
  fields: (t) => ({
    field: t.exposeString('field', { description: 'Which price, by its name in the price map.' }),
    known: t.exposeBoolean('known', { description: 'Whether history can tell.' }),
    usd: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'In USD; null when it is not known, when there was none, or when it is not one amount in USD.',
      resolve: ({ field, value }) => usdTextOf(field, value),
    }),
    value: t.expose('value', {
      type: 'JSON',
      nullable: true,
      description: 'As the price map had it; null when it is not known or there was none. Numbers are floats.',
    }),
  }),
});

const PricesThenType = builder.objectRef<PricesThen>('PricesThen').implement({
  description: 'The prices of an entry as they stood at an instant. What history cannot tell is said to be unknown.',
  fields: (t) => ({
    entryId: t.exposeID('entryId', { description: 'Which entry.' }),
    at: t.expose('at', { type: 'DateTime', description: 'The instant.' }),
    listed: t.exposeBoolean('listed', {
      nullable: true,
      description: 'Whether it was in the catalog; null when history cannot tell.',
    }),
    prices: t.field({
      type: [PriceThenType],
      description: 'Every price it has or is known to have had at any time, by name.',
      args: { fields: t.arg.stringList({ description: 'Only these.' }) },
      complexity: { field: 1, multiplier: LIST_COST },
      resolve: ({ prices }, { fields }) => (fields ? prices.filter(({ field }) => fields.includes(field)) : prices),
    }),
  }),
});

builder.objectFields(CatalogEntryType, (t) => ({
  priceHistory: t.field({
    type: [PriceStepType],
    nullable: true,
    complexity: { field: 1, multiplier: LIST_COST },
    description:
      'How its prices went, by price and time, with gaps where history cannot tell. Null when it could not be read.',
    args: {
      from: t.arg({ type: 'DateTime', description: 'Inclusive; as far back as history goes when absent.' }),
      to: t.arg({ type: 'DateTime', description: 'Exclusive; now when absent.' }),
    },
    resolve: ({ id }, { from, to }, { scope }) =>
      listPriceSteps(scope, { entryId: id, from: from ?? null, to: to ?? null }),
  }),
  priceAsOf: t.field({
    type: PricesThenType,
    nullable: true,
    description: 'Its prices as they stood at an instant. Null when they could not be read.',
    args: { date: t.arg({ type: 'DateTime', required: true, description: 'The instant.' }) },
    resolve: ({ id }, { date }, { scope }) => findPricesAt(scope, { entryId: id, at: date }),
  }),
}));

builder.queryFields((t) => ({
  priceHistory: t.field({
    type: [PriceStepType],
    nullable: true,
    complexity: { field: 1, multiplier: LIST_COST },
    description: 'How the prices of an entry went, also of one that is gone. Null for an id nobody ever saw.',
    args: {
      entry: t.arg.id({ required: true, description: 'Id of the entry, exactly.' }),
      from: t.arg({ type: 'DateTime', description: 'Inclusive; as far back as history goes when absent.' }),
      to: t.arg({ type: 'DateTime', description: 'Exclusive; now when absent.' }),
    },
    resolve: (_root, { entry, from, to }, { scope }) =>
      listPriceSteps(scope, { entryId: entry, from: from ?? null, to: to ?? null }),
  }),
  priceAsOf: t.field({
    type: PricesThenType,
    nullable: true,
    description:
      'The prices of an entry as they stood at an instant, also of one that is gone. Null for an id nobody ever saw.',
    args: {
      entry: t.arg.id({ required: true, description: 'Id of the entry, exactly.' }),
      date: t.arg({ type: 'DateTime', required: true, description: 'The instant.' }),
    },
    resolve: (_root, { entry, date }, { scope }) => findPricesAt(scope, { entryId: entry, at: date }),
  }),
}));
