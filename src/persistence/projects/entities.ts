import { defineEntity, p } from '@mikro-orm/core';
import { objectColumn, stampColumns, textsColumn } from '../column-types/shared-columns.ts';

/** A project changes over time: a managed entity. */
export const ProjectEntity = defineEntity({
  name: 'ProjectEntity',
  tableName: 'project',
  properties: {
    id: p.text().primary(),
    alias: p.text().nullable(),
    description: p.text().nullable(),
    teamId: p.text().index(),
    budgetId: p.text().nullable(),
    models: textsColumn(),
    tags: textsColumn(),
    metadata: objectColumn(),
    blocked: p.boolean(),
    ...stampColumns(),
  },
  indexes: [{ properties: ['createdAt', 'id'] }],
});
