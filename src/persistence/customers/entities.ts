import { defineEntity, p } from '@mikro-orm/core';
import type { Region } from '../../domain/customers/customer.ts';
import { objectColumn, stampColumns } from '../column-types/shared-columns.ts';

/** A customer changes over time: a managed entity. */
export const CustomerEntity = defineEntity({
  name: 'CustomerEntity',
  tableName: 'customer',
  properties: {
    id: p.text().primary(),
    alias: p.text().nullable(),
    blocked: p.boolean(),
    allowedModelRegion: p.text().$type<Region>().nullable(),
    defaultModel: p.text().nullable(),
    budgetId: p.text().nullable(),
    objectPermission: objectColumn().nullable(),
    ...stampColumns(),
  },
  indexes: [{ properties: ['createdAt', 'id'] }],
});
