import type { Caller } from '../../domain/caller.ts';
import type { JsonObject } from '../../domain/json-object.ts';
import type { McpServer } from '../../domain/mcp-servers/mcp-server.ts';
import type { McpRequest, ServerTools } from '../../domain/mcp/mcp-request.ts';
import type { McpToolResult } from '../../domain/mcp/mcp-upstream.ts';

/** Facts of a client's request that reach servers. */
export type McpSender = Pick<McpRequest, 'clientHeaders' | 'callerToken' | 'sessionId'> & { readonly caller: Caller };

/** A tool at its server. */
export interface McpChosenTool {
  readonly server: McpServer;
  /** Name at the server, without prefix. */
  readonly tool: string;
}

/** A tool whose server is not known: servers are asked for their tools. */
export interface McpToolChoice {
  readonly candidates: readonly McpServer[];
  /** Asks the candidates. Called when the budgets and limits of the caller admit the call. Throws Forbidden. */
  readonly choose: () => Promise<McpChosenTool>;
}

/** A call of one tool. */
export type McpGatewayCall = (McpChosenTool | McpToolChoice) & {
  /** Name that the client sent. */
  readonly sentName: string;
  readonly args: JsonObject;
};

/** Requests to MCP servers. They do not check which servers and tools the caller may use. */
export interface McpGateway {
  /**
   * Asks servers for their tools, up to a deadline for all of them together. A server that fails has an outcome and no
   * tools. `isRecorded`: the listing has a spend row. Throws only the signal's reason.
   */
  listTools(
    servers: readonly McpServer[],
    sender: McpSender,
    options: {
      readonly signal: AbortSignal;
      readonly isRecorded: boolean;
      /** Deadline in ms, at most 30 s; 30 s when absent. */
      readonly milliseconds?: number;
    },
  ): Promise<readonly ServerTools[]>;
  /**
   * Calls a tool. The budgets, limits and guardrails of the caller apply, the limits of the server, and the block,
   * budgets and limits of the customer and tags. The call is priced and recorded. A failed tool is a result with
   * `isError`. Throws refusals of budgets, limits and guardrails, UpstreamFailed and Unavailable.
   */
  callTool(call: McpGatewayCall, sender: McpSender, signal: AbortSignal): Promise<McpToolResult>;
}

/** The part of the gateway that requests MCP servers. */
export interface McpCalls {
  readonly mcp: McpGateway;
}
