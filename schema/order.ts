import { builder } from './builder.ts';

export const OrderDirectionType = builder.enumType('OrderDirection', {
  description: 'Direction of an order.',
  values: {
    ASC: { value: 'ascending', description: 'Smallest or earliest first.' },
    DESC: { value: 'descending', description: 'Largest or latest first.' },
  } as const,
});
