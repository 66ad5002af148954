import type { EnumRef } from '@pothos/core';
import { builder } from './builder.ts';

export const OrderDirectionType = builder.enumType('OrderDirection', {
  description: 'Direction of an order.',
  values: {
    ASC: { value: 'ascending', description: 'Smallest or earliest first.' },
    DESC: { value: 'descending', description: 'Largest or latest first.' },
  } as const,
});

interface OrderField<Sort extends string> {
  readonly value: Sort;
  readonly description: string;
}

/** An order by the time at which rows were created, the only property that these lists are ordered by. */
export const creationOrder = (noun: string, rows: string) => rowOrder(noun, rows, {});

/** An order by the time at which rows were created, or by one of the fields. */
export function rowOrder<Sort extends string = never>(
  noun: string,
  rows: string,
  fields: Readonly<Record<string, OrderField<Sort>>>,
) {
  const created: OrderField<Sort | 'created_at'> = { value: 'created_at', description: 'When the row was created.' };
  const field = builder.enumType(`${noun}OrderField`, {
    description: `Properties that ${rows} are ordered by.`,
    values: { CREATED_AT: created, ...fields },
  }) as EnumRef<typeof builder.$inferSchemaTypes, Sort | 'created_at'>;
  return builder.inputType(`${noun}Order`, {
    description: `Order of ${rows}. Ties are ordered by id.`,
    fields: (t) => ({
      field: t.field({ type: field, required: true, defaultValue: 'created_at', description: 'Property to order by.' }),
      direction: t.field({
        type: OrderDirectionType,
        required: true,
        defaultValue: 'descending',
        description: 'Direction.',
      }),
    }),
  });
}
