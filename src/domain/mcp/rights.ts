import type { Caller } from '../caller.ts';
import { type JsonObject, isJsonObject } from '../json-object.ts';
import type { McpServer } from '../mcp-servers/mcp-server.ts';
import { admitsAnonymous, ANONYMOUS_MCP_CALLER } from './anonymous-caller.ts';
import type { McpToolsetView } from './mcp-request.ts';
import { isNamed, prefixedName } from './tool-names.ts';

/** Values of `mcp_servers` that are no server: none of them, and all of them. */
const NO_SERVERS = 'no-mcp-servers';
const ALL_SERVERS = 'all-proxy-mcpservers';
/** Value of a list of tools that permits all of them. */
const ALL_TOOLS = '*';

/** MCP servers and tools that a caller may use. */
export interface McpRights {
  /** Whether the caller may use a server, for at least one tool. */
  allows(server: McpServer): boolean;
  /** Whether the caller may use a tool of a server, by its name without prefix. */
  allowsTool(server: McpServer, tool: string): boolean;
  /** Whether the caller may use a toolset. */
  allowsToolset(toolset: McpToolsetView): boolean;
}

/** Grants of `object_permission`. An absent list is empty. */
interface Grants {
  readonly servers: readonly string[];
  readonly groups: readonly string[];
  readonly toolsets: readonly string[];
  /** Tools without prefix by server. */
  readonly tools: ReadonlyMap<string, readonly string[]>;
  readonly blockedTools: readonly string[];
}

const textsOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];

function grantsOf(permission: JsonObject): Grants {
  const byServer = permission['mcp_tool_permissions'];
  const tools = Object.entries(isJsonObject(byServer) ? byServer : {});
  return {
    servers: textsOf(permission['mcp_servers']),
    groups: textsOf(permission['mcp_access_groups']),
    toolsets: textsOf(permission['mcp_toolsets']),
    tools: new Map(tools.map(([server, names]) => [server, textsOf(names)])),
    blockedTools: textsOf(permission['blocked_tools']),
  };
}

const isRestricting = ({ servers, groups, toolsets, tools }: Grants): boolean =>
  servers.length > 0 || groups.length > 0 || toolsets.length > 0 || tools.size > 0;

const isAnyAdmin = ({ role }: Caller): boolean => role === 'proxy_admin' || role === 'proxy_admin_viewer';

/**
 * Rights of a caller. Administrators may use every server, unless their key has grants. Other keys may use servers that
 * are open to all keys, those of their grants and those of their access groups. `toolsets` are all toolsets.
 */
export function mcpRightsOf(caller: Caller, toolsets: readonly McpToolsetView[]): McpRights {
  const grants = grantsOf(caller.key?.settings.objectPermission ?? {});
  const hasAll = (isAnyAdmin(caller) && !isRestricting(grants)) || grants.servers.includes(ALL_SERVERS);
  const hasNone = grants.servers.includes(NO_SERVERS);
  const ofGroups = caller.key?.mcpServerIds ?? [];
  const ownToolsets = toolsets.filter((toolset) => isGranted(grants, toolset));
  const isIn = (server: McpServer, names: readonly string[]): boolean => names.some((name) => isNamed(server, name));

  /** Whether the caller may use the server for tools that no toolset limits. */
  function allowsWhole(server: McpServer): boolean {
    if (caller === ANONYMOUS_MCP_CALLER) return admitsAnonymous(server);
    return (
      hasAll ||
      server.allowsAllKeys ||
      isIn(server, grants.servers) ||
      isIn(server, [...grants.tools.keys()]) ||
      ofGroups.includes(server.id) ||
      server.accessGroups.some((group) => grants.groups.includes(group))
    );
  }

  const inToolsets = (server: McpServer, matches: (toolName: string) => boolean): boolean =>
    ownToolsets.some(({ tools }) => tools.some((one) => isNamed(server, one.serverId) && matches(one.toolName)));

  return {
    allows: (server) => !hasNone && (allowsWhole(server) || inToolsets(server, () => true)),
    allowsTool(server, tool) {
      if (hasNone || isBlocked(grants, server, tool)) return false;
      if (inToolsets(server, (name) => name === tool)) return true;
      if (!allowsWhole(server)) return false;
      const permitted = [...grants.tools].filter(([name]) => isNamed(server, name)).flatMap(([, tools]) => tools);
      return permitted.length === 0 || permitted.includes(ALL_TOOLS) || permitted.includes(tool);
    },
    allowsToolset: (toolset) => !hasNone && (hasAll || isGranted(grants, toolset)),
  };
}

const isGranted = ({ toolsets }: Grants, { id, name }: McpToolsetView): boolean =>
  toolsets.includes(id) || toolsets.includes(name);

const isBlocked = ({ blockedTools }: Grants, server: McpServer, tool: string): boolean =>
  blockedTools.includes(tool) || blockedTools.includes(prefixedName(server, tool));

/** Whether a server offers a tool, by its name without prefix. A list of allowed tools wins over one of others. */
export function offersTool({ allowedTools, disallowedTools }: McpServer, tool: string): boolean {
  if (allowedTools.length > 0 && !allowedTools.includes(ALL_TOOLS)) return allowedTools.includes(tool);
  return !disallowedTools.includes(tool);
}

/** Parameters of a call that its server does not permit. A tool without a list permits all. */
export function refusedParams({ allowedParams }: McpServer, tool: string, args: JsonObject): readonly string[] {
  const permitted = allowedParams.get(tool);
  return permitted === undefined ? [] : Object.keys(args).filter((name) => !permitted.includes(name));
}
