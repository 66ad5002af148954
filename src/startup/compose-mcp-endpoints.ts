import { createMcpSessions, type McpSessions } from '../domain/mcp-sessions/sessions.ts';
import type { McpEndpointSettings } from '../../resolvers/operation/mcp-session-platform.ts';
import { systemClock } from '../runtime/clock.ts';
import { keyGenerator } from '../runtime/identifiers.ts';
import type { StartContext } from './context.ts';

/** Sessions of MCP clients, and the settings of the endpoints that serve them. */
export function composeMcpEndpoints({ settings, log }: StartContext): {
  readonly mcpSessions: McpSessions;
  readonly mcpEndpoint: McpEndpointSettings;
} {
  return {
    mcpSessions: createMcpSessions({ clock: systemClock, newId: keyGenerator.token }),
    mcpEndpoint: {
      publicUrl: settings.billing.publicUrl,
      origins: settings.http.corsOrigins,
      messageFailed: (err) => log.error({ err }, 'the request of an MCP client failed'),
    },
  };
}
