import type { EnumRef } from '@pothos/core';
import { builder, type InputFields } from './builder.ts';

const OrderDirectionType = builder.enumType('OrderDirection', {
  description: 'Direction of an order.',
  values: {
    ASC: { value: 'ascending', description: 'Smallest or earliest first.' },
    DESC: { value: 'descending', description: 'Largest or latest first.' },
  } as const,
});

/** The field `direction` of an order. */
export const directionField = (t: InputFields, defaultValue: 'ascending' | 'descending') =>
  t.field({ type: OrderDirectionType, required: true, defaultValue, description: 'Direction.' });

interface OrderField<Sort extends string> {
  readonly value: Sort;
  readonly description: string;
}

/**
 * An order by the time at which rows were created, for lists that have no other order. Here and below, `noun` begins
 * the names of the types, and `rows` names the items in descriptions.
 */
export const creationOrder = (noun: string, rows: string) => rowOrder(noun, rows, {});

/** An order by the time at which rows were created, or by one of the fields. */
export const rowOrder = <Sort extends string = never>(
  noun: string,
  rows: string,
  fields: Readonly<Record<string, OrderField<Sort>>>,
) =>
  valueOrder<Sort | 'created_at'>(noun, rows, {
    CREATED_AT: { value: 'created_at', description: 'When the row was created.' },
    ...fields,
  });

/** An order by one of the fields; by the first field when a query names none. */
export function valueOrder<Sort extends string>(
  noun: string,
  rows: string,
  fields: Readonly<Record<string, OrderField<Sort>>>,
) {
  const [first] = Object.values(fields);
  if (first === undefined) throw new TypeError(`An order of ${rows} needs a field.`);
  const field = builder.enumType(`${noun}OrderField`, {
    description: `Properties that ${rows} are ordered by.`,
    values: { ...fields },
  }) as EnumRef<typeof builder.$inferSchemaTypes, Sort>;
  return builder.inputType(`${noun}Order`, {
    description: `Order of ${rows}. Equal values are ordered by id.`,
    fields: (t) => ({
      field: t.field({ type: field, required: true, defaultValue: first.value, description: 'Property to order by.' }),
      direction: directionField(t, 'descending'),
    }),
  });
}

/** Order of a list in memory. */
interface ListOrder<Field extends string> {
  readonly field: Field;
  readonly direction: 'ascending' | 'descending';
}

/**
 * Sorts a list; equal values by id, in the same direction. `values` has the value of an item for each field. Without an
 * order, the list is returned unchanged.
 */
export function inOrder<Item, Field extends string>(
  items: readonly Item[],
  orderBy: ListOrder<Field> | null | undefined,
  values: Readonly<Record<Field, (item: Item) => string | number>>,
  idOf: (item: Item) => string,
): readonly Item[] {
  if (orderBy === null || orderBy === undefined) return items;
  const valueOf = values[orderBy.field];
  const resultIfLess = orderBy.direction === 'ascending' ? -1 : 1;
  const compare = (left: string | number, right: string | number): number => {
    if (left === right) return 0;
    return left < right ? resultIfLess : -resultIfLess;
  };
  return items
    .map((item) => ({ item, value: valueOf(item), id: idOf(item) }))
    .toSorted((left, right) => compare(left.value, right.value) || compare(left.id, right.id))
    .map(({ item }) => item);
}

/** Whether a text contains a part, case-insensitive. True when the part is absent or blank. */
export const containsText = (text: string | null, part: string | null | undefined): boolean =>
  part === null || part === undefined || part.trim() === '' || (text ?? '').toLowerCase().includes(part.toLowerCase());

/** Whether a value equals that of a filter. True when the filter is absent or blank. */
export const matchesValue = (value: unknown, filter: unknown): boolean =>
  filter === null || filter === undefined || (typeof filter === 'string' && filter.trim() === '') || value === filter;
