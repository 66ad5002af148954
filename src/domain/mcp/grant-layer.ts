import type { McpServer } from '../mcp-servers/mcp-server.ts';
import { namesIn, type ObjectPermission, toolsIn } from '../object-permissions/object-permission.ts';
import type { McpToolsetView } from './mcp-request.ts';
import { isNamed, prefixedName } from './tool-names.ts';

/** Entry of `mcp_servers` that refuses every server. */
const NO_SERVERS = 'no-mcp-servers';
/** Entry of `mcp_servers` that grants every server. */
const ALL_SERVERS = 'all-proxy-mcpservers';
/** Entry of a list of tools that permits every tool. */
export const ALL_TOOLS = '*';

/** The rules of one permission about MCP servers and tools. */
export interface GrantLayer {
  /**
   * Whether the permission names servers, access groups, toolsets or tools. If not, the permission restricts nothing.
   */
  readonly hasGrants: boolean;
  /** Whether the permission refuses every server, also a server that is open to all keys. */
  readonly refusesAll: boolean;
  /** Whether the permission grants at least one tool of a server. */
  allows(server: McpServer): boolean;
  /** Whether the permission grants a tool of a server. */
  allowsTool(server: McpServer, tool: string): boolean;
  /** Whether `mcp_tool_permissions` lists a tool, or no tool of the server. Grants of the server are not checked. */
  toolListAllows(server: McpServer, tool: string): boolean;
  /** True for a named toolset, and where all servers are granted. Null when the permission names no toolset. */
  allowsToolset(toolset: McpToolsetView): boolean | null;
  /** Whether `blocked_tools` has a tool. An invalid list blocks every tool. */
  isBlocked(server: McpServer, tool: string): boolean;
}

/** Reads a permission. `toolsets` are all toolsets of the gateway. */
export function grantLayer(permission: ObjectPermission, toolsets: readonly McpToolsetView[]): GrantLayer {
  const named = namesIn(permission, 'mcp_servers');
  const groups = namesIn(permission, 'mcp_access_groups');
  const namedToolsets = namesIn(permission, 'mcp_toolsets');
  const tools = toolsIn(permission);
  const blocked = namesIn(permission, 'blocked_tools');
  const servers = [...(named ?? []), ...(tools?.keys() ?? [])];
  const hasAll = named?.includes(ALL_SERVERS) === true;
  const isNamedToolset = ({ id, name }: McpToolsetView): boolean =>
    namedToolsets !== null && (namedToolsets.includes(id) || namedToolsets.includes(name));
  const grantedToolsets = namedToolsets === null ? [] : toolsets.filter(isNamedToolset);

  const allowsServer = (server: McpServer): boolean =>
    hasAll ||
    servers.some((name) => isNamed(server, name)) ||
    (groups !== null && server.accessGroups.some((group) => groups.includes(group)));
  const toolsetsHave = (server: McpServer, matches: (toolName: string) => boolean): boolean =>
    grantedToolsets.some(({ tools: toolsetTools }) =>
      toolsetTools.some(({ serverId, toolName }) => isNamed(server, serverId) && matches(toolName)),
    );

  function toolListAllows(server: McpServer, tool: string): boolean {
    const ofServer = [...(tools ?? [])].filter(([name]) => isNamed(server, name));
    const permitted = ofServer.flatMap(([, names]) => names);
    return permitted.length === 0 || permitted.includes(ALL_TOOLS) || permitted.includes(tool);
  }

  return {
    hasGrants: named !== null || groups !== null || namedToolsets !== null || tools !== null,
    refusesAll: named?.includes(NO_SERVERS) === true,
    allows: (server) => allowsServer(server) || toolsetsHave(server, () => true),
    allowsTool: (server, tool) =>
      toolsetsHave(server, (name) => name === tool) || (allowsServer(server) && toolListAllows(server, tool)),
    toolListAllows,
    allowsToolset(toolset) {
      if (hasAll) return true;
      return namedToolsets === null ? null : isNamedToolset(toolset);
    },
    isBlocked: (server, tool) =>
      blocked !== null &&
      (blocked.length === 0 || blocked.includes(tool) || blocked.includes(prefixedName(server, tool))),
  };
}

/** The rules for an owner without a permission: no grants. */
export const NO_PERMISSION: GrantLayer = grantLayer({}, []);
