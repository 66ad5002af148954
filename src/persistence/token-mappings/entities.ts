import { defineEntity, p } from '@mikro-orm/core';
import { stampColumns } from '../column-types/shared-columns.ts';

/** A mapping changes over time: a managed entity. */
export const TokenMappingEntity = defineEntity({
  name: 'TokenMappingEntity',
  tableName: 'token_mapping',
  properties: {
    id: p.text().primary(),
    claimName: p.text(),
    claimValue: p.text(),
    keyHash: p.text(),
    description: p.text().nullable(),
    active: p.boolean(),
    ...stampColumns(),
  },
  uniques: [{ properties: ['claimName', 'claimValue'] }],
  indexes: [{ properties: ['createdAt', 'id'] }],
});
