import type { JsonObject } from '../json-object.ts';
import type { McpServer } from '../mcp-servers/mcp-server.ts';
import type { McpTool } from './mcp-upstream.ts';

/** Servers that a request addresses. */
export type McpTarget =
  | { readonly kind: 'all' }
  /** Ids, names, aliases or access groups. Unknown ones are ignored when at least one is known. */
  | { readonly kind: 'servers'; readonly names: readonly string[] }
  /** A toolset by its name or id. */
  | { readonly kind: 'toolset'; readonly name: string };

/** What a client sends with every request about tools. */
export interface McpRequest {
  readonly target: McpTarget;
  /** Headers of the client with lower-case names, without the credential of the gateway. */
  readonly clientHeaders: Readonly<Record<string, string>>;
  /** Value of `Authorization` that is meant for servers; null when it is the credential of the gateway or absent. */
  readonly callerToken: string | null;
  /** Id of the client's session; null for a stateless request. */
  readonly sessionId: string | null;
  /** Null for the address of the scope. */
  readonly clientAddress: string | null;
}

/** A call of a tool. */
export interface McpToolCall extends McpRequest {
  /** Name with or without the prefix of its server. */
  readonly name: string;
  readonly args: JsonObject;
  /** Id of the server. Null or absent: the name selects it. */
  readonly serverId?: string | null;
}

export type McpFailureKind =
  | 'auth_required'
  | 'forbidden'
  | 'rate_limited'
  | 'timeout'
  | 'unreachable'
  | 'upstream_error'
  | 'internal';

/** How a server answered a request for its tools. */
export type McpOutcome =
  | { readonly status: 'ok'; readonly toolCount: number }
  | {
      readonly status: McpFailureKind;
      /** HTTP status of the server; null without an answer. */
      readonly httpStatus: number | null;
    };

/** Answer of one server to a request for its tools. */
export interface ServerTools {
  readonly server: McpServer;
  /** Empty after a failure. */
  readonly tools: readonly McpTool[];
  readonly outcome: McpOutcome;
  /** The failure; null without one. */
  readonly failure: Error | null;
}

/** A tool and its server. */
export interface ListedTool {
  readonly server: McpServer;
  /** Its name has no prefix. Configured names and descriptions are applied. */
  readonly tool: McpTool;
}

/** Tools of all servers of a request, in the order of the servers. */
export interface McpToolListing {
  readonly tools: readonly ListedTool[];
  /** By server id, one for each server that was asked. */
  readonly outcomes: ReadonlyMap<string, McpOutcome>;
}

/** The members of a toolset that requests use. */
export interface McpToolsetView {
  readonly id: string;
  readonly name: string;
  readonly tools: readonly { readonly serverId: string; readonly toolName: string }[];
}

/** Servers of a request that exist and that its caller may use. */
export interface ResolvedMcpTarget {
  readonly kind: McpTarget['kind'];
  readonly servers: readonly McpServer[];
  /** Null unless the target is a toolset. */
  readonly toolset: McpToolsetView | null;
}
