import { defineEntity, p } from '@mikro-orm/core';
import { objectColumn, stampColumns, textsColumn } from '../../column-types/shared-columns.ts';

/** An organization changes over time: a managed entity. */
export const OrganizationEntity = defineEntity({
  name: 'OrganizationEntity',
  tableName: 'organization',
  properties: {
    id: p.text().primary(),
    alias: p.text(),
    budgetId: p.text(),
    models: textsColumn(),
    metadata: objectColumn(),
    ...stampColumns(),
  },
  indexes: [{ properties: ['createdAt', 'id'] }],
});
