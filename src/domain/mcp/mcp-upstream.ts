import type { JsonObject } from '../json-object.ts';
import type { McpServer } from '../mcp-servers/mcp-server.ts';

/** A tool as its server describes it: the object of the protocol, with a name without prefix. */
export type McpTool = JsonObject & { readonly name: string };

/** Result of a tool call: the object of the protocol. */
export interface McpToolResult {
  readonly content: readonly JsonObject[];
  readonly structuredContent?: JsonObject;
  readonly isError?: boolean;
  readonly _meta?: JsonObject;
}

/** What a call sends besides the message. */
export interface McpUpstreamCall {
  /** Lower-case headers for this server: forwarded ones, `x-mcp-<alias>-…` without prefix, and the caller's token. */
  readonly headers: Readonly<Record<string, string>>;
  /** Id of the caller. A connection with such headers is used by one caller only. */
  readonly owner: string;
  /** Aborts the call. The adapter adds no deadline of its own. */
  readonly signal: AbortSignal;
}

/** Connections to MCP servers. Every method throws UpstreamFailed or Unavailable when the server does not answer. */
export interface McpUpstream {
  listTools(server: McpServer, call: McpUpstreamCall): Promise<readonly McpTool[]>;
  /** `name` has no prefix. A failed tool is a result with `isError`. */
  callTool(
    server: McpServer,
    tool: { readonly name: string; readonly args: JsonObject },
    call: McpUpstreamCall,
  ): Promise<McpToolResult>;
  /** Closes the connections and the child process of a server, after their running requests. */
  evict(serverId: string): Promise<void>;
  close(): Promise<void>;
}
