import type { Caller } from '../caller.ts';
import type { McpServer } from '../mcp-servers/mcp-server.ts';

/** Caller without a key. It may only use servers that authenticate their callers themselves. */
export const ANONYMOUS_MCP_CALLER: Caller = Object.freeze({
  role: 'internal_user_viewer',
  keyHash: 'anonymous',
  key: null,
  teamId: null,
  userId: null,
});

export const admitsAnonymous = ({ auth }: Pick<McpServer, 'auth'>): boolean =>
  auth.kind === 'caller_token' && !auth.requiresKey;
