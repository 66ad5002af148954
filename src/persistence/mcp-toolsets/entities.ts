import { defineEntity, p } from '@mikro-orm/core';
import type { McpToolReference } from '../../domain/mcp-toolsets/mcp-toolset.ts';
import { stampColumns } from '../column-types/shared-columns.ts';

/** A toolset changes over time: a managed entity. */
export const McpToolsetEntity = defineEntity({
  name: 'McpToolsetEntity',
  tableName: 'mcp_toolset',
  properties: {
    id: p.text().primary(),
    name: p.text(),
    nameKey: p.text().unique(),
    description: p.text().nullable(),
    tools: p.json().columnType('json').$type<readonly McpToolReference[]>(),
    ...stampColumns(),
  },
  indexes: [{ properties: ['createdAt', 'id'] }],
});
