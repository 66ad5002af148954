import type { Caller } from '../caller.ts';
import type { JsonObject } from '../json-object.ts';
import type { McpServer } from '../mcp-servers/mcp-server.ts';
import { type PermissionTerms, permissionLayersOf, WITHOUT_CUSTOMER } from '../object-permissions/permission-layers.ts';
import { admitsAnonymous, ANONYMOUS_MCP_CALLER } from './anonymous-caller.ts';
import { ALL_TOOLS, type GrantLayer, grantLayer, NO_PERMISSION } from './grant-layer.ts';
import type { McpToolsetView } from './mcp-request.ts';

/** MCP servers and tools that a caller may use. */
export interface McpRights {
  /** Whether the caller may use a server, for at least one tool. */
  allows(server: McpServer): boolean;
  /** Whether the caller may use a tool of a server, by its name without prefix. */
  allowsTool(server: McpServer, tool: string): boolean;
  /** Whether the caller may use a toolset. */
  allowsToolset(toolset: McpToolsetView): boolean;
}

const NO_RIGHTS: McpRights = { allows: () => false, allowsTool: () => false, allowsToolset: () => false };

/** Rights of callers without a key, at servers that need none. */
const ANONYMOUS_RIGHTS: McpRights = {
  allows: admitsAnonymous,
  allowsTool: admitsAnonymous,
  allowsToolset: () => false,
};

const isAnyAdmin = ({ role }: Caller): boolean => role === 'proxy_admin' || role === 'proxy_admin_viewer';

/**
 * Rights of a caller. `toolsets` are all toolsets.
 *
 * - A key with grants may use what its own and its team's permission grant. A key without grants has those of its team.
 *   Without both, an administrator may use every server.
 * - Servers that are open to all keys, and those of the key's access groups, are added.
 * - The permissions of the customer, the user and the organization limit the result, if they have grants.
 */
export function mcpRightsOf(
  caller: Caller,
  toolsets: readonly McpToolsetView[],
  terms: PermissionTerms = WITHOUT_CUSTOMER,
): McpRights {
  if (caller === ANONYMOUS_MCP_CALLER) return ANONYMOUS_RIGHTS;
  const layers = permissionLayersOf(caller, terms);
  const layerOf = (permission: typeof layers.key): GrantLayer =>
    permission === null ? NO_PERMISSION : grantLayer(permission, toolsets);
  const key = layerOf(layers.key);
  const team = layerOf(layers.team);
  const customer = layerOf(layers.customer);
  const ceilings = [customer, ...layers.owners.map(layerOf)];
  const all = [key, team, ...ceilings];
  const needsServers = terms.customer !== null && terms.customerNeedsServers && !customer.hasGrants;
  if (needsServers || all.some(({ refusesAll }) => refusesAll)) return NO_RIGHTS;

  const granting = [key, team].filter(({ hasGrants }) => hasGrants);
  const limiting = ceilings.filter(({ hasGrants }) => hasGrants);
  const inherits = isAnyAdmin(caller) || (team.hasGrants && !terms.keyNeedsServers);
  const isGranting = key.hasGrants || inherits;
  const ofGroups = caller.key?.mcpServerIds ?? [];
  const isAdded = (server: McpServer): boolean => server.allowsAllKeys || ofGroups.includes(server.id);

  return {
    allows: (server) =>
      (isAdded(server) || (isGranting && granting.every((layer) => layer.allows(server)))) &&
      limiting.every((layer) => layer.allows(server)),
    allowsTool(server, tool) {
      if (all.some((layer) => layer.isBlocked(server, tool))) return false;
      const isGranted = isGranting && granting.every((layer) => layer.allowsTool(server, tool));
      if (!isGranted && !(isAdded(server) && granting.every((layer) => layer.toolListAllows(server, tool))))
        return false;
      return limiting.every((layer) => layer.allowsTool(server, tool));
    },
    // A permission of servers alone limits the tools of a toolset, not the toolset.
    allowsToolset: (toolset) =>
      isGranting &&
      (granting.length === 0 || granting.some((layer) => layer.allowsToolset(toolset) === true)) &&
      [...granting, ...limiting].every((layer) => layer.allowsToolset(toolset) !== false),
  };
}

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
