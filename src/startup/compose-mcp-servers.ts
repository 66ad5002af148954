import type { McpServers } from '../domain/mcp-servers/mcp-server.ts';
import type { Stores } from '../persistence/stores.ts';
import { createMcpServers } from '../runtime/mcp-servers/mcp-servers.ts';
import type { StartContext } from './context.ts';

/** The MCP servers of the configuration file, and the stored ones. */
export async function composeMcpServers(
  { settings, log }: StartContext,
  stores: Pick<Stores, 'mcpServers'>,
): Promise<McpServers> {
  const mcpServers = createMcpServers({
    configured: settings.mcp.servers,
    readParams: settings.guardrails.readParams,
    stdio: settings.mcp.stdio,
    store: stores.mcpServers,
    salt: settings.saltSecrets,
    log,
  });
  await mcpServers.refresh();
  return mcpServers;
}
