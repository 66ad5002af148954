import { builder } from './builder.ts';

export const OrderDirectionType = builder.enumType('OrderDirection', {
  description: 'Direction of an order.',
  values: {
    ASC: { value: 'ascending', description: 'Smallest or earliest first.' },
    DESC: { value: 'descending', description: 'Largest or latest first.' },
  } as const,
});

/** An order by the time at which rows were created, the only property that these lists are ordered by. */
export function creationOrder(noun: string, rows: string) {
  const field = builder.enumType(`${noun}OrderField`, {
    description: `Properties that ${rows} are ordered by.`,
    values: { CREATED_AT: { value: 'created_at', description: 'When the row was created.' } } as const,
  });
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
