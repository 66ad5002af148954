import type { Caller } from '../../src/domain/caller.ts';
import { mcpRightsOf } from '../../src/domain/mcp/rights.ts';
import { isApproved } from '../../src/domain/mcp-servers/mcp-server-of.ts';
import type { McpServerDefinition } from '../../src/domain/mcp-servers/mcp-server.ts';
import { type McpServerReader, shownServer } from '../../src/domain/mcp-servers/shown-params.ts';
import type { McpToolset } from '../../src/domain/mcp-toolsets/mcp-toolset.ts';
import { nullIfBlank } from '../../src/domain/optional-text.ts';
import { isAnyAdmin } from './access.ts';
import { callerOf } from './operation.ts';
import type { McpServerPlatform } from './mcp-platform.ts';
import { permissionTerms } from './object-rights.ts';
import type { Scope } from './scope.ts';

/** How a caller sees MCP servers. */
function readerOf(caller: Caller): McpServerReader {
  if (isAnyAdmin(caller)) return 'admin';
  return nullIfBlank(caller.userId) === null ? 'key' : 'user';
}

/**
 * Servers that the caller may use, without secrets. Administrators see all. Submissions that are not approved are
 * in another list.
 */
export async function visibleServers(scope: Scope<McpServerPlatform>): Promise<readonly McpServerDefinition[]> {
  const caller = callerOf(scope);
  const { mcpServers, stores } = scope.platform;
  const reader = readerOf(caller);
  const all = mcpServers.list();
  if (reader === 'admin') return all.filter(isApproved).map((one) => shownServer(one, reader));
  const terms = await permissionTerms(scope, undefined);
  const rights = mcpRightsOf(caller, await stores.mcpToolsets.all(null), terms);
  const usable = new Set(
    mcpServers
      .servers()
      .filter((server) => rights.allows(server))
      .map(({ id }) => id),
  );
  return all.filter(({ id }) => usable.has(id)).map((one) => shownServer(one, reader));
}

/** Toolsets that the caller may use; administrators see all. */
export async function visibleToolsets(scope: Scope<McpServerPlatform>): Promise<readonly McpToolset[]> {
  const caller = callerOf(scope);
  const all = await scope.platform.stores.mcpToolsets.all(null);
  if (isAnyAdmin(caller)) return all;
  const rights = mcpRightsOf(caller, all, await permissionTerms(scope, undefined));
  return all.filter((toolset) => rights.allowsToolset(toolset));
}
