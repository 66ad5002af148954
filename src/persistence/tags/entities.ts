import { defineEntity, p } from '@mikro-orm/core';
import { stampColumns, textsColumn } from '../column-types/shared-columns.ts';

/** A tag changes over time: a managed entity. */
export const TagEntity = defineEntity({
  name: 'TagEntity',
  tableName: 'tag',
  properties: {
    id: p.text().primary(),
    description: p.text().nullable(),
    models: textsColumn(),
    budgetId: p.text().nullable(),
    ...stampColumns(),
  },
  indexes: [{ properties: ['createdAt', 'id'] }],
});
