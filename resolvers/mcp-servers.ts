import { system } from './operation/access.ts';
import { operation } from './operation/operation.ts';
import type { McpServerPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';

/** Applies changes of stored MCP servers by other processes. */
export const refreshMcpServers = operation({
  name: 'refreshMcpServers',
  access: system,
  run: ({ platform }: Scope<McpServerPlatform>, _input: undefined): Promise<void> => platform.mcpServers.refresh(),
});
