import { UpstreamFailed } from '../../domain/errors.ts';
import type { McpUpstream } from '../../domain/mcp/mcp-upstream.ts';

function refuse(): Promise<never> {
  const about = { provider: 'mcp', upstreamStatus: null };
  return Promise.reject(new UpstreamFailed('This process has no connections to MCP servers.', about));
}

/** No connections: every request fails. */
export const NO_MCP_UPSTREAM: McpUpstream = {
  listTools: refuse,
  callTool: refuse,
  evict: () => Promise.resolve(),
  close: () => Promise.resolve(),
};
