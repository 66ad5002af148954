import { Forbidden, InvalidInput, NotFound } from '../errors.ts';
import type { McpServer } from '../mcp-servers/mcp-server.ts';
import type { McpTarget, McpToolsetView, ResolvedMcpTarget } from './mcp-request.ts';
import type { McpRights } from './rights.ts';
import { isNamed, isSelected } from './tool-names.ts';

/** Maximum number of different names in one request. */
const MAX_NAMES = 16;
/** Maximum characters of names that an error message repeats. */
const SHOWN_CHARACTERS = 256;

interface Directory {
  readonly servers: readonly McpServer[];
  readonly toolsets: readonly McpToolsetView[];
  readonly rights: McpRights;
  /** Whether the caller's address may reach servers that are not on the public internet. */
  readonly isInternalCaller: boolean;
}

const unknownName = (name: string): NotFound =>
  new NotFound(
    'mcp_server',
    name,
    `MCP server, toolset, or access group '${name.slice(0, SHOWN_CHARACTERS)}' not found`,
  );

const refusedNames = (names: readonly string[]): Forbidden =>
  new Forbidden(
    `The key is not allowed to access the requested MCP servers: ${names.join(', ').slice(0, SHOWN_CHARACTERS)}`,
    'mcp_server',
    { hasWordsOfReference: true },
  );

/**
 * Servers of a target that the caller may use. For the target `all` there may be none. Throws NotFound when no name
 * exists, Forbidden when the caller may use none of the servers, and InvalidInput for too many names.
 */
export function resolveTarget(target: McpTarget, directory: Directory): ResolvedMcpTarget {
  switch (target.kind) {
    case 'all':
      return { kind: 'all', servers: directory.servers.filter((one) => isUsable(one, directory)), toolset: null };
    case 'servers':
      return resolveNames([...new Set(target.names)], directory);
    case 'toolset':
      return resolveToolset(target.name, directory);
  }
}

/** Whether the address of the caller may reach a server. */
const isReachable = (server: McpServer, { isInternalCaller }: Directory): boolean =>
  isInternalCaller || server.isOnPublicInternet;

const isUsable = (server: McpServer, directory: Directory): boolean =>
  isReachable(server, directory) && directory.rights.allows(server);

function resolveNames(names: readonly string[], directory: Directory): ResolvedMcpTarget {
  if (names.length > MAX_NAMES) throw new InvalidInput(`A request may name at most ${MAX_NAMES} MCP servers.`);
  const found = directory.servers.filter((server) => names.some((name) => isSelected(server, name)));
  if (found.length === 0) {
    const [first = ''] = names;
    const isToolset = names.length === 1 && toolsetOf(first, directory) !== undefined;
    if (isToolset) return resolveToolset(first, directory);
    throw unknownName(names.join(','));
  }
  const servers = found.filter((one) => isUsable(one, directory));
  if (servers.length === 0) throw refusedNames(names);
  return { kind: 'servers', servers, toolset: null };
}

const toolsetOf = (name: string, { toolsets }: Directory): McpToolsetView | undefined =>
  toolsets.find((one) => one.name === name) ?? toolsets.find((one) => one.id === name);

function resolveToolset(name: string, directory: Directory): ResolvedMcpTarget {
  const toolset = toolsetOf(name, directory);
  if (toolset === undefined) throw unknownName(name);
  if (!directory.rights.allowsToolset(toolset)) throw refusedNames([name]);
  const servers = directory.servers.filter(
    (server) => isUsable(server, directory) && toolset.tools.some(({ serverId }) => isNamed(server, serverId)),
  );
  return { kind: 'toolset', servers, toolset };
}
