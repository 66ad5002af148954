import type { McpServer } from '../mcp-servers/mcp-server.ts';
import { namesIn, type ObjectPermission, toolsIn } from '../object-permissions/object-permission.ts';
import type { McpToolsetView } from './mcp-request.ts';
import { isNamed, prefixedName } from './tool-names.ts';

/** Values of `mcp_servers` that are no server: none of them, and all of them. */
const NO_SERVERS = 'no-mcp-servers';
const ALL_SERVERS = 'all-proxy-mcpservers';
/** Value of a list of tools that permits all of them. */
export const ALL_TOOLS = '*';

/** What one permission says about MCP servers and tools. */
export interface GrantLayer {
  /** Whether it names servers, groups, toolsets or tools. Otherwise it restricts nothing. */
  readonly restricts: boolean;
  /** Whether it refuses every server, also those that are open to all keys. */
  readonly hasNone: boolean;
  /** Whether it grants a server, for at least one tool. */
  allows(server: McpServer): boolean;
  /** Whether it grants a tool of a server. */
  permits(server: McpServer, tool: string): boolean;
  /** Whether its lists of tools permit a tool, if its server is granted otherwise. */
  listsTool(server: McpServer, tool: string): boolean;
  /** Whether it names the toolset or grants all servers. Null when it names no toolset at all. */
  allowsToolset(toolset: McpToolsetView): boolean | null;
  isBlocked(server: McpServer, tool: string): boolean;
}

/** Reads a permission. `toolsets` are all toolsets. */
export function grantLayer(permission: ObjectPermission, toolsets: readonly McpToolsetView[]): GrantLayer {
  const named = namesIn(permission, 'mcp_servers');
  const groups = namesIn(permission, 'mcp_access_groups');
  const namedToolsets = namesIn(permission, 'mcp_toolsets');
  const tools = toolsIn(permission);
  const blocked = namesIn(permission, 'blocked_tools');
  const servers = [...(named ?? []), ...(tools?.keys() ?? [])];
  const hasAll = named?.includes(ALL_SERVERS) === true;
  const isGranted = ({ id, name }: McpToolsetView): boolean =>
    namedToolsets !== null && (namedToolsets.includes(id) || namedToolsets.includes(name));
  const own = namedToolsets === null ? [] : toolsets.filter(isGranted);

  const allowsWhole = (server: McpServer): boolean =>
    hasAll ||
    servers.some((name) => isNamed(server, name)) ||
    (groups !== null && server.accessGroups.some((group) => groups.includes(group)));
  const inToolsets = (server: McpServer, matches: (toolName: string) => boolean): boolean =>
    own.some((toolset) => toolset.tools.some((one) => isNamed(server, one.serverId) && matches(one.toolName)));

  function listsTool(server: McpServer, tool: string): boolean {
    const lists = [...(tools ?? [])].filter(([name]) => isNamed(server, name));
    const permitted = lists.flatMap(([, names]) => names);
    return permitted.length === 0 || permitted.includes(ALL_TOOLS) || permitted.includes(tool);
  }

  return {
    restricts: named !== null || groups !== null || namedToolsets !== null || tools !== null,
    hasNone: named?.includes(NO_SERVERS) === true,
    allows: (server) => allowsWhole(server) || inToolsets(server, () => true),
    permits: (server, tool) =>
      inToolsets(server, (name) => name === tool) || (allowsWhole(server) && listsTool(server, tool)),
    listsTool,
    allowsToolset(toolset) {
      if (hasAll) return true;
      return namedToolsets === null ? null : isGranted(toolset);
    },
    isBlocked: (server, tool) =>
      blocked !== null &&
      (blocked.length === 0 || blocked.includes(tool) || blocked.includes(prefixedName(server, tool))),
  };
}

/** Stands for the permission of an owner that has none. */
export const NO_PERMISSION: GrantLayer = grantLayer({}, []);
