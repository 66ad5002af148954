import type { Clock, Ids } from '../../src/domain/clock.ts';
import type { McpServers } from '../../src/domain/mcp-servers/mcp-server.ts';
import type { McpCalls } from '../../src/gateway/mcp/mcp-gateway.ts';
import type { ObjectRightsPlatform } from './object-rights-platform.ts';
import type { Stores } from './stores.ts';

/** Tools of MCP servers. */
export interface McpToolPlatform extends ObjectRightsPlatform {
  readonly stores: Pick<Stores, 'mcpToolsets'>;
  readonly mcpServers: Pick<McpServers, 'servers'>;
  readonly gateway: McpCalls;
  /** Whether an address may reach MCP servers that are not on the public internet; not for an unknown address. */
  isInternalAddress(address: string | null): boolean;
}

/** MCP servers and toolsets. */
export interface McpServerPlatform extends ObjectRightsPlatform {
  readonly stores: Pick<Stores, 'mcpToolsets'>;
  readonly mcpServers: McpServers;
  /** Whether `/v1/mcp/registry.json` lists the public servers. */
  readonly mcpRegistry: boolean;
  /** Address at which clients reach this server. */
  publicUrl(): string;
  readonly clock: Clock;
  readonly ids: Ids;
}
