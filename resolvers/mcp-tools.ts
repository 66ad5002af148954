import type { McpServer } from '../src/domain/mcp-servers/mcp-server.ts';
import { Forbidden, UpstreamFailed } from '../src/domain/errors.ts';
import type { JsonObject } from '../src/domain/json-object.ts';
import { mcpServerOf } from '../src/domain/mcp-servers/mcp-server-of.ts';
import { checkedParams } from '../src/domain/mcp-servers/server-params.ts';
import { isNamed, prefixOf } from '../src/domain/mcp/tool-names.ts';
import { offeredTools } from '../src/domain/mcp/offered-tools.ts';
import type {
  McpRequest,
  McpToolCall,
  McpToolListing,
  ResolvedMcpTarget,
  ServerTools,
} from '../src/domain/mcp/mcp-request.ts';
import type { McpToolResult } from '../src/domain/mcp/mcp-upstream.ts';
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
 * an outcome and no tools. The listing has a spend row. It is empty when the caller may use no server at all. Throws
 * NotFound and Forbidden as `resolveMcpTarget` does.
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

/**
 * Lists the tools of one server, by its id, name or alias. `includesDisabled`: for administrators, also the tools that
 * the server does not offer. Throws Forbidden for a server that does not exist or that the caller may not use, and the
 * failure of the server.
 */
export const listToolsOfMcpServer = operation({
  name: 'listToolsOfMcpServer',
  access: anyKey,
  async run(
    scope: Scope<McpToolPlatform>,
    {
      request,
      server: name,
      includesDisabled,
    }: { readonly request: McpRequest; readonly server: string; readonly includesDisabled: boolean },
  ): Promise<McpToolListing> {
    const { resolved, rights } = await targetFor(scope, { ...request, target: { kind: 'all' } });
    const server = resolved.servers.find((one) => isNamed(one, name));
    if (server === undefined)
      throw new Forbidden(`The key is not allowed to access server ${name.slice(0, SHOWN_NAME)}`, 'mcp_server', {
        hasWordsOfReference: true,
      });
    const answer = await answerOf(scope, server, senderOf(scope, request));
    if (answer.failure !== null) throw failedListing(server, answer.failure);
    const offering = includesDisabled && isAnyAdmin(callerOf(scope)) ? { ...server, ...ALL_TOOLS } : server;
    const tools = offeredTools(offering, answer.tools, { rights, toolset: null });
    return {
      tools: tools.map((tool) => ({ server, tool })),
      outcomes: new Map([[server.id, shownOutcome({ ...answer, tools })]]),
    };
  },
});

/** Members of a server that offers all of its tools. */
const ALL_TOOLS = { allowedTools: [], disallowedTools: [] } as const;
/** Characters of a server name that an error message repeats. */
const SHOWN_NAME = 256;

/** The failure of a list, with the message of the reference. */
function failedListing(server: McpServer, failure: Error): Error {
  if (!(failure instanceof UpstreamFailed)) return failure;
  return new UpstreamFailed(`Failed to list tools from server ${prefixOf(server)}`, failure, { cause: failure });
}

/** The answer of one server. */
async function answerOf(
  { platform, signal }: Scope<McpToolPlatform>,
  server: McpServer,
  sender: ReturnType<typeof senderOf>,
): Promise<ServerTools> {
  const [answer] = await platform.gateway.mcp.listTools([server], sender, { signal, isRecorded: false });
  if (answer === undefined) throw new TypeError('The gateway gave no answer for a server.');
  return answer;
}

/**
 * Asks a server that is not stored for its tools. `params` are those of a new server. Servers that are programs are
 * refused. Throws InvalidInput for params with which a server cannot run.
 */
export const testMcpServer = operation({
  name: 'testMcpServer',
  access: admin,
  run(scope: Scope<McpToolPlatform>, { params }: { readonly params: JsonObject }): Promise<ServerTools> {
    const checked = checkedParams(params, { isEnabled: false, extraCommands: [] });
    const server = mcpServerOf({ ...UNSTORED, params: checked });
    const sender = { caller: callerOf(scope), clientHeaders: {}, callerToken: null, sessionId: null };
    return answerOf(scope, server, sender);
  },
});

const UNSTORED = {
  id: 'unstored',
  isFromConfig: false,
  createdAt: null,
  createdBy: null,
  updatedAt: null,
  updatedBy: null,
} as const;

/** Deadline of a check of servers, in ms. */
const CHECK_MS = 10_000;

/** Asks servers for their tools, to find out whether they answer. Servers that the caller may not use are left out. */
export const checkMcpServers = operation({
  name: 'checkMcpServers',
  access: anyKey,
  async run(
    scope: Scope<McpToolPlatform>,
    { ids, request }: { readonly ids: readonly string[]; readonly request: McpRequest },
  ): Promise<readonly ServerTools[]> {
    const { resolved } = await targetFor(scope, request);
    const asked = ids.length === 0 ? resolved.servers : resolved.servers.filter(({ id }) => ids.includes(id));
    return await scope.platform.gateway.mcp.listTools(asked, senderOf(scope, request), {
      signal: scope.signal,
      isRecorded: false,
      milliseconds: CHECK_MS,
    });
  },
});
