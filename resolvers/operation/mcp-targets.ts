import { Forbidden, InvalidInput, NotFound } from '../../src/domain/errors.ts';
import { isOffered, offeredTools, ownName } from '../../src/domain/mcp/offered-tools.ts';
import type { McpRequest, McpToolCall, ResolvedMcpTarget } from '../../src/domain/mcp/mcp-request.ts';
import { mcpLabels } from '../../src/domain/mcp/mcp-labels.ts';
import { resolveTarget } from '../../src/domain/mcp/resolve-target.ts';
import { type McpRights, mcpRightsOf, refusedParams } from '../../src/domain/mcp/rights.ts';
import { isNamed, prefixOf, splitName } from '../../src/domain/mcp/tool-names.ts';
import type { McpChosenTool, McpSender, McpToolChoice } from '../../src/gateway/mcp/mcp-gateway.ts';
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
 * The tool of a call, or how it is chosen. Throws InvalidInput for a name that is too long, and NotFound for an unknown
 * server. Both throw Forbidden for a server or tool that the caller may not use, and for parameters that the server
 * does not permit.
 */
export async function chosenTool(
  scope: Scope<McpToolPlatform>,
  call: McpToolCall,
): Promise<McpChosenTool | McpToolChoice> {
  if (call.name.length > MAX_NAME)
    throw new InvalidInput(`The name of a tool has at most ${MAX_NAME} characters.`, [], { field: 'name' });
  const found = await targetFor(scope, call);
  const { resolved } = found;
  const { serverId = null, name } = call;
  if (serverId !== null) return permitted(toolOf(scope, resolved, serverId, name), call, found);
  const known = toolWithoutListing(resolved, name);
  if (known !== null) return permitted(known, call, found);
  const choose = async (): Promise<McpChosenTool> => permitted(await listedTool(scope, call, found), call, found);
  return { candidates: resolved.servers, choose };
}

/** The tool under its own name, if the caller may call it with these arguments. Throws Forbidden. */
function permitted(
  { server, tool: named }: McpChosenTool,
  call: McpToolCall,
  { resolved, rights }: Found,
): McpChosenTool {
  const tool = ownName(server, named);
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
): McpChosenTool {
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

/** The tool of a name with a prefix, or at the only server. Null where several servers may have the tool. */
function toolWithoutListing({ servers }: ResolvedMcpTarget, name: string): McpChosenTool | null {
  const split = splitName(servers, name);
  if (split !== null) return split;
  const [first, ...others] = servers;
  if (first === undefined) throw notOffered();
  return others.length === 0 ? { server: first, tool: name } : null;
}

/** The tool of the first server that offers a tool of this name. The servers are asked for their tools. */
async function listedTool(
  scope: Scope<McpToolPlatform>,
  call: McpToolCall,
  { resolved: { servers, toolset }, rights }: Found,
): Promise<McpChosenTool> {
  const answers = await scope.platform.gateway.mcp.listTools(servers, senderOf(scope, call), {
    signal: scope.signal,
    isRecorded: false,
  });
  const found = answers.find(({ server, tools }) =>
    offeredTools(server, tools, { rights, toolset }).some(({ name }) => name === call.name),
  );
  if (found === undefined) throw notOffered();
  return { server: found.server, tool: call.name };
}

const notOffered = (): Forbidden =>
  new Forbidden('User not allowed to call this tool.', 'mcp_tool', { hasWordsOfReference: true });
