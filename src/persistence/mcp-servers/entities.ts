import { defineEntity, p } from '@mikro-orm/core';
import { stampColumns } from '../column-types/shared-columns.ts';

/** An MCP server changes over time: a managed entity. */
export const McpServerEntity = defineEntity({
  name: 'McpServerEntity',
  tableName: 'mcp_server',
  properties: {
    id: p.text().primary(),
    nameKey: p.text().nullable().unique(),
    aliasKey: p.text().nullable().unique(),
    /** The params of the server as JSON, encrypted, in Base64. */
    sealed: p.text(),
    ...stampColumns(),
  },
  indexes: [{ properties: ['createdAt', 'id'] }],
});
