import type { McpServers } from '../../src/domain/mcp-servers/mcp-server.ts';
import type { McpSessions } from '../../src/domain/mcp-sessions/sessions.ts';

/** The endpoints of the Model Context Protocol, and the sessions of their clients. */
export interface McpSessionPlatform {
  readonly mcpServers: Pick<McpServers, 'servers'>;
  readonly mcpSessions: McpSessions;
  readonly mcpEndpoint: McpEndpointSettings;
}

export interface McpEndpointSettings {
  /** Configured address of the gateway for its clients, without a trailing slash; null for the address of a request. */
  readonly publicUrl: string | null;
  /** Origins whose pages may send requests; `*` allows all. Requests of other origins are refused. */
  readonly origins: readonly string[];
  /** Logs an unexpected failure of a message. Its answer has begun, so that its status cannot show the failure. */
  readonly messageFailed: (error: unknown) => void;
}
