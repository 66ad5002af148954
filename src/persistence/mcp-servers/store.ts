import type { McpServerStore, StoredMcpServer } from '../../domain/mcp-servers/stored-server.ts';
import type { Database } from '../database/database.ts';
import { createDatabaseMutex } from '../database/mutex.ts';
import { createRowStore } from '../database/row-store.ts';
import { McpServerEntity } from './entities.ts';

export const createMcpServerStore = (database: Database): McpServerStore => ({
  ...createRowStore<StoredMcpServer, null, 'created_at'>(database, {
    entity: McpServerEntity,
    noun: 'MCP server',
    audited: 'mcp_server',
    conflictText: ({ id, nameKey, aliasKey }) =>
      `The id ${id}, the name '${nameKey ?? ''}' or the alias '${aliasKey ?? ''}' is that of another MCP server`,
  }),
  exclusively: createDatabaseMutex(database, 'MCP servers'),
});
