import { defineEntity, p } from '@mikro-orm/core';
import { stampColumns } from '../column-types/shared-columns.ts';

/** An entry changes over time: a managed entity. */
export const MemoryEntity = defineEntity({
  name: 'MemoryEntity',
  tableName: 'memory',
  properties: {
    id: p.text().primary(),
    name: p.text(),
    value: p.text(),
    metadata: p.json().columnType('json').nullable(),
    userId: p.text().nullable(),
    teamId: p.text().nullable(),
    owner: p.text(),
    ...stampColumns(),
  },
  uniques: [{ properties: ['owner', 'name'] }],
  indexes: [{ properties: ['createdAt', 'id'] }, { properties: ['name'] }],
});
