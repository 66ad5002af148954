import type { JsonObject } from '../json-object.ts';
import type { Usd } from '../money.ts';
import type { Authored } from '../row-store.ts';
import type { Secret } from '../secret.ts';

/** How the gateway reaches an MCP server: streamable HTTP, the older HTTP with SSE, or a child process. */
export const MCP_TRANSPORTS = ['http', 'sse', 'stdio'] as const;
export type McpTransport = (typeof MCP_TRANSPORTS)[number];

/** How the gateway authenticates to an MCP server. */
export type McpServerAuth =
  | { readonly kind: 'none' }
  /** A fixed header, such as `Authorization: Bearer …` or `X-API-Key: …`. */
  | { readonly kind: 'header'; readonly name: string; readonly value: Secret }
  /** A token of the OAuth client credentials flow. */
  | {
      readonly kind: 'client_credentials';
      readonly tokenUrl: string;
      readonly clientId: string;
      readonly clientSecret: Secret;
      readonly scopes: readonly string[];
      readonly audience: string | null;
    }
  /** The token of the caller. `requiresKey`: the caller also sends a key of the gateway (`oauth_delegate`). */
  | { readonly kind: 'caller_token'; readonly requiresKey: boolean }
  /** A configured type that the gateway does not implement. Calls of the server fail. */
  | { readonly kind: 'unsupported'; readonly authType: string };

/** Prices of tool calls in USD. A tool without a price costs `perCall`, or nothing when that is null. */
export interface McpPrices {
  readonly perCall: Usd | null;
  /** By tool name without prefix. */
  readonly byTool: ReadonlyMap<string, Usd>;
}

/** An MCP server in force. References to variables are resolved. */
export interface McpServer {
  readonly id: string;
  readonly name: string | null;
  /** Unique among aliases and names, without regard to case. */
  readonly alias: string | null;
  readonly description: string | null;
  /** Instructions for models, which the gateway sends when a session starts. */
  readonly instructions: string | null;
  readonly transport: McpTransport;
  /** Null for `stdio`. Without an address, an HTTP server is unreachable. */
  readonly url: string | null;
  /** Program of a `stdio` server, its arguments and environment variables. */
  readonly command: string | null;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly auth: McpServerAuth;
  /** Headers of every request to the server. Their values may be secret. */
  readonly staticHeaders: ReadonlyMap<string, Secret>;
  /** Names of client headers that are forwarded. */
  readonly forwardedHeaders: readonly string[];
  /** Tools that callers see, by name without prefix. Empty or `*`: all but `disallowedTools`. */
  readonly allowedTools: readonly string[];
  readonly disallowedTools: readonly string[];
  /** Parameters that calls may have, by tool. A tool without an entry accepts all. */
  readonly allowedParams: ReadonlyMap<string, readonly string[]>;
  readonly toolDisplayNames: ReadonlyMap<string, string>;
  readonly toolDescriptions: ReadonlyMap<string, string>;
  /** Names of groups by which keys and teams are granted the server. */
  readonly accessGroups: readonly string[];
  /** Whether every key may use the server, also keys without a grant. */
  readonly allowsAllKeys: boolean;
  /** Whether callers from public addresses may use the server. */
  readonly isOnPublicInternet: boolean;
  /** Deadline of a call in ms; null for the default. */
  readonly timeoutMs: number | null;
  /** Calls at the same time; null for no limit. */
  readonly maxConcurrentRequests: number | null;
  /** Calls per minute; null for no limit. */
  readonly requestsPerMinute: number | null;
  readonly prices: McpPrices;
  readonly isFromConfig: boolean;
}

/** An MCP server as configured. References to variables in `params` are not resolved. */
export interface McpServerDefinition {
  readonly id: string;
  /** All configured members but `server_id`, under their names of the wire, secrets included. */
  readonly params: JsonObject;
  readonly isFromConfig: boolean;
  /** Times and authors are null for a server of the configuration file. */
  readonly createdAt: Date | null;
  readonly createdBy: string | null;
  readonly updatedAt: Date | null;
  readonly updatedBy: string | null;
}

/** The MCP servers of the configuration file and the stored ones. */
export interface McpServers {
  /** Servers in force, those of the file first. The same array as before until a server changes. */
  servers(): readonly McpServer[];
  /** Servers as configured, those of the file first. */
  list(): readonly McpServerDefinition[];
  /** Stores a server. Throws Conflict when its id, name or alias is taken, and InvalidInput. */
  add(definition: { readonly id: string; readonly params: JsonObject }, by: Authored): Promise<McpServerDefinition>;
  /**
   * Changes a stored server: null removes a member of its params, an absent one is unchanged. Null when none has the
   * id. Throws Conflict and InvalidInput.
   */
  change(id: string, params: JsonObject, by: Authored): Promise<McpServerDefinition | null>;
  /**
   * Changes several stored servers, without other changes in between. `changesOf` returns the changes of a server as it
   * is stored, or null for none. Throws Conflict and InvalidInput.
   */
  changeEach(changesOf: (stored: McpServerDefinition) => JsonObject | null, by: Authored): Promise<void>;
  /** Removes a stored server. Null when none has the id. */
  remove(id: string): Promise<McpServerDefinition | null>;
  /** Replaces the servers of the configuration file. */
  configure(definitions: readonly McpServerDefinition[]): void;
  /** Resolves references to environment variables again, after a variable changed. */
  resolve(): void;
  /** Reads the stored servers again, for changes by other processes. */
  refresh(): Promise<void>;
}
