import { defineEntity, p } from '@mikro-orm/core';
import { stampColumns, textsColumn } from '../column-types/shared-columns.ts';

/** An access group changes over time: a managed entity. */
export const AccessGroupEntity = defineEntity({
  name: 'AccessGroupEntity',
  tableName: 'access_group',
  properties: {
    id: p.text().primary(),
    name: p.text().unique(),
    description: p.text().nullable(),
    models: textsColumn(),
    mcpServerIds: textsColumn(),
    agentIds: textsColumn(),
    teamIds: textsColumn(),
    keyIds: textsColumn(),
    ...stampColumns(),
  },
  indexes: [{ properties: ['createdAt', 'id'] }],
});
