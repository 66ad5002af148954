import type { McpServer } from '../src/domain/mcp-servers/mcp-server.ts';
import { Forbidden } from '../src/domain/errors.ts';
import { offeredTools } from '../src/domain/mcp/offered-tools.ts';
import type { McpRequest, McpToolCall, McpToolListing, ResolvedMcpTarget } from '../src/domain/mcp/mcp-request.ts';
import type { McpToolResult } from '../src/domain/mcp/mcp-upstream.ts';
import type { ServerTools } from '../src/gateway/mcp/mcp-gateway.ts';
import { anyKey, admin, isAnyAdmin } from './operation/access.ts';
import { chosenTool, senderOf, targetFor } from './operation/mcp-targets.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { McpToolPlatform } from './operation/mcp-platform.ts';
import type { Scope } from './operation/scope.ts';

/**
 * Servers of a request that its caller may use. Throws NotFound for an unknown name, and Forbidden when the caller may
 * use none of them. An administrator may address all servers, also when there are none.
 */
export const resolveMcpTarget = operation({
  name: 'resolveMcpTarget',
  access: anyKey,
  async run(scope: Scope<McpToolPlatform>, request: McpRequest): Promise<ResolvedMcpTarget> {
    const { resolved } = await targetFor(scope, request);
    if (resolved.servers.length === 0 && resolved.kind === 'all' && !isAnyAdmin(callerOf(scope)))
      throw new Forbidden('The key is not allowed to access any MCP server.', 'mcp_server', {
        hasWordsOfReference: true,
      });
    return resolved;
  },
});

/**
 * Lists the tools of all servers of a request, as its caller sees them. A server that does not answer within 30 s has
 * an outcome and no tools. The listing has a spend row. Throws as `resolveMcpTarget`, but an empty list when the caller
 * may use no server at all.
 */
export const listMcpTools = operation({
  name: 'listMcpTools',
  access: anyKey,
  run: (scope: Scope<McpToolPlatform>, request: McpRequest): Promise<McpToolListing> => listed(scope, request, true),
});

/** As `listMcpTools`, without a spend row: for lists that no client of the protocol requests. */
export const showMcpTools = operation({
  name: 'showMcpTools',
  access: anyKey,
  run: (scope: Scope<McpToolPlatform>, request: McpRequest): Promise<McpToolListing> => listed(scope, request, false),
});

async function listed(
  scope: Scope<McpToolPlatform>,
  request: McpRequest,
  isRecorded: boolean,
): Promise<McpToolListing> {
  const { resolved, rights } = await targetFor(scope, request);
  const answers = await scope.platform.gateway.mcp.listTools(resolved.servers, senderOf(scope, request), {
    signal: scope.signal,
    isRecorded,
  });
  const offer = { rights, toolset: resolved.toolset };
  const tools = answers.map((one) => ({ ...one, tools: offeredTools(one.server, one.tools, offer) }));
  return {
    tools: tools.flatMap(({ server, tools: ofServer }) => ofServer.map((tool) => ({ server, tool }))),
    outcomes: new Map(tools.map((one) => [one.server.id, shownOutcome(one)])),
  };
}

/** The outcome with the number of tools that the caller sees. */
const shownOutcome = ({ outcome, tools }: ServerTools) =>
  outcome.status === 'ok' ? { ...outcome, toolCount: tools.length } : outcome;

/**
 * Calls a tool by its name with or without prefix. A failed tool is a result with `isError`. Throws NotFound for an
 * unknown server or tool, Forbidden for one that the caller may not use, and what the gateway's `callTool` throws.
 */
export const callMcpTool = operation({
  name: 'callMcpTool',
  access: anyKey,
  async run(scope: Scope<McpToolPlatform>, call: McpToolCall): Promise<McpToolResult> {
    const chosen = await chosenTool(scope, call);
    const sent = { ...chosen, sentName: call.name, args: call.args };
    return await scope.platform.gateway.mcp.callTool(sent, senderOf(scope, call), scope.signal);
  },
});

/** Asks a server that is not configured for its tools, for a test before it is stored. Throws as the gateway. */
export const testMcpServer = operation({
  name: 'testMcpServer',
  access: admin,
  async run(scope: Scope<McpToolPlatform>, { server }: { readonly server: McpServer }): Promise<ServerTools> {
    const sender = { caller: callerOf(scope), clientHeaders: {}, callerToken: null, sessionId: null };
    const [answer] = await scope.platform.gateway.mcp.listTools([server], sender, {
      signal: scope.signal,
      isRecorded: false,
    });
    if (answer === undefined) throw new TypeError('The gateway gave no answer for a server.');
    return answer;
  },
});

/** Whether servers answer now. Null for ids of all servers that the caller may use. */
export const checkMcpServers = operation({
  name: 'checkMcpServers',
  access: anyKey,
  async run(
    scope: Scope<McpToolPlatform>,
    { ids, request }: { readonly ids: readonly string[] | null; readonly request: McpRequest },
  ): Promise<readonly ServerTools[]> {
    const { resolved } = await targetFor(scope, request);
    const asked = ids === null ? resolved.servers : resolved.servers.filter(({ id }) => ids.includes(id));
    return await scope.platform.gateway.mcp.listTools(asked, senderOf(scope, request), {
      signal: scope.signal,
      isRecorded: false,
    });
  },
});
