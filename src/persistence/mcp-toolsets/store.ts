import type { McpToolsetStore } from '../../domain/mcp-toolsets/mcp-toolset.ts';
import type { Database } from '../database/database.ts';
import { createRowStore } from '../database/row-store.ts';
import { McpToolsetEntity } from './entities.ts';

export const createMcpToolsetStore = (database: Database): McpToolsetStore =>
  createRowStore(database, {
    entity: McpToolsetEntity,
    noun: 'MCP toolset',
    audited: 'mcp_toolset',
    conflictText: ({ id, name }) => `The id ${id} or the name '${name}' is that of another toolset`,
  });
