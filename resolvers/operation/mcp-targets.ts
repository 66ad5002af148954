import { Forbidden, InvalidInput, NotFound } from '../../src/domain/errors.ts';
import { isOffered, offeredTools, ownName } from '../../src/domain/mcp/offered-tools.ts';
import type { McpRequest, McpToolCall, ResolvedMcpTarget } from '../../src/domain/mcp/mcp-request.ts';
import { mcpLabels } from '../../src/domain/mcp/mcp-labels.ts';
import { resolveTarget } from '../../src/domain/mcp/resolve-target.ts';
import { type McpRights, mcpRightsOf, refusedParams } from '../../src/domain/mcp/rights.ts';
import { isNamed, prefixOf, splitName } from '../../src/domain/mcp/tool-names.ts';
import type { McpServer } from '../../src/domain/mcp-servers/mcp-server.ts';
import type { McpSender } from '../../src/gateway/mcp/mcp-gateway.ts';
import { callerOf } from './operation.ts';
import type { McpToolPlatform } from './mcp-platform.ts';
import { permissionTerms } from './object-rights.ts';
import type { Scope } from './scope.ts';

/** Characters of a tool name that an error message repeats. */
const SHOWN_NAME = 256;

/** Characters of the name of a tool with its prefix. Records and traces have the whole name. */
const MAX_NAME = 1_024;

interface Found {
  readonly resolved: ResolvedMcpTarget;
  readonly rights: McpRights;
}

/** A tool at its server. */
interface ChosenTool {
  readonly server: McpServer;
  /** Name at the server, without prefix. */
  readonly tool: string;
}

/** The servers of a request, and the rights of its caller. Throws NotFound, Forbidden and InvalidInput. */
export async function targetFor(scope: Scope<McpToolPlatform>, request: McpRequest): Promise<Found> {
  const { stores, mcpServers, isInternalAddress } = scope.platform;
  const toolsets = await stores.mcpToolsets.all(null);
  const terms = await permissionTerms(scope, mcpLabels(request.clientHeaders));
  const rights = mcpRightsOf(callerOf(scope), toolsets, terms);
  const resolved = resolveTarget(request.target, {
    servers: mcpServers.servers(),
    toolsets,
    rights,
    isInternalCaller: isInternalAddress(request.clientAddress ?? scope.client.address),
  });
  return { resolved, rights };
}

/** The sender of a request, for the gateway. */
export const senderOf = (
  scope: Pick<Scope, 'caller'>,
  { clientHeaders, callerToken, sessionId }: McpRequest,
): McpSender => ({ caller: callerOf(scope), clientHeaders, callerToken, sessionId });

/**
 * The tool of a call. Throws InvalidInput for a name that is too long, and NotFound for an unknown server. Throws
 * Forbidden for a server or tool that the caller may not use, and for parameters that the server does not permit.
 */
export async function chosenTool(scope: Scope<McpToolPlatform>, call: McpToolCall): Promise<ChosenTool> {
  if (call.name.length > MAX_NAME)
    throw new InvalidInput(`The name of a tool has at most ${MAX_NAME} characters.`, [], { field: 'name' });
  const { resolved, rights } = await targetFor(scope, call);
  const { serverId = null, name } = call;
  const chosen =
    serverId === null ? await toolByName(scope, call, { resolved, rights }) : toolOf(scope, resolved, serverId, name);
  const { server, tool } = { ...chosen, tool: ownName(chosen.server, chosen.tool) };
  if (!isOffered(server, tool, { rights, toolset: resolved.toolset }))
    throw new Forbidden(
      `Tool '${tool.slice(0, SHOWN_NAME)}' is not allowed for your key/team on server '${prefixOf(server)}'. Contact proxy admin for access.`,
      'mcp_tool',
      { hasWordsOfReference: true },
    );
  const refused = refusedParams(server, tool, call.args);
  if (refused.length > 0)
    throw new Forbidden(
      `The parameters ${refused.join(', ').slice(0, SHOWN_NAME)} are not allowed for tool ${tool.slice(0, SHOWN_NAME)}. Contact proxy admin for access.`,
      'mcp_tool',
      { hasWordsOfReference: true },
    );
  return { server, tool };
}

/** A tool of a server that the call names. */
function toolOf(
  { platform }: Scope<McpToolPlatform>,
  { servers }: ResolvedMcpTarget,
  serverId: string,
  name: string,
): ChosenTool {
  const all = platform.mcpServers.servers();
  const server = all.find((one) => isNamed(one, serverId));
  if (server === undefined)
    throw new NotFound('mcp_server', serverId, `MCP server '${serverId.slice(0, SHOWN_NAME)}' not found`);
  if (!servers.includes(server))
    throw new Forbidden(`The key is not allowed to access server ${serverId.slice(0, SHOWN_NAME)}`, 'mcp_server', {
      hasWordsOfReference: true,
    });
  const split = splitName(all, name);
  if (split === null) return { server, tool: name };
  if (split.server === server) return { server, tool: split.tool };
  throw new Forbidden(
    `The tool '${name.slice(0, SHOWN_NAME)}' belongs to another MCP server than '${serverId.slice(0, SHOWN_NAME)}'.`,
    'mcp_tool_server',
    { hasWordsOfReference: true },
  );
}

/**
 * The tool that a name selects, with or without prefix. Without a prefix, the first server that offers the tool is
 * used; several servers are asked for their tools.
 */
async function toolByName(
  scope: Scope<McpToolPlatform>,
  call: McpToolCall,
  { resolved, rights }: Found,
): Promise<ChosenTool> {
  const { servers, toolset } = resolved;
  const split = splitName(servers, call.name);
  if (split !== null) return split;
  const [first, ...others] = servers;
  if (first !== undefined && others.length === 0) return { server: first, tool: call.name };
  const answers = await scope.platform.gateway.mcp.listTools(servers, senderOf(scope, call), {
    signal: scope.signal,
    isRecorded: false,
  });
  const found = answers.find(({ server, tools }) =>
    offeredTools(server, tools, { rights, toolset }).some(({ name }) => name === call.name),
  );
  if (found !== undefined) return { server: found.server, tool: call.name };
  throw new Forbidden('User not allowed to call this tool.', 'mcp_tool', { hasWordsOfReference: true });
}
