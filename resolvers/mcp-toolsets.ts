import { InvalidInput, NotFound } from '../src/domain/errors.ts';
import { type McpToolset, type McpToolsetPatch, storableToolset } from '../src/domain/mcp-toolsets/mcp-toolset.ts';
import { newStamps } from '../src/domain/row-store.ts';
import { anyKey } from './operation/access.ts';
import { mcpAdmin } from './operation/mcp-access.ts';
import { authored } from './operation/authored.ts';
import { visibleToolsets } from './operation/mcp-readers.ts';
import { operation } from './operation/operation.ts';
import type { McpServerPlatform } from './operation/mcp-platform.ts';
import type { Scope } from './operation/scope.ts';

type McpScope = Scope<McpServerPlatform>;

const unknownToolset = (id: string): NotFound => new NotFound('MCP toolset', id, `Toolset '${id}' not found.`);

/** Throws InvalidInput for tools of servers that do not exist. */
function assertServersExist({ platform }: McpScope, tools: McpToolset['tools']): void {
  const known = new Set(platform.mcpServers.list().map(({ id }) => id));
  const unknown = tools.find(({ serverId }) => !known.has(serverId));
  if (unknown !== undefined) throw new InvalidInput(`The MCP server '${unknown.serverId}' does not exist.`);
}

/** Lists the toolsets that the caller may use, the oldest first. */
export const listMcpToolsets = operation({
  name: 'listMcpToolsets',
  access: anyKey,
  run: (scope: McpScope, _input: undefined): Promise<readonly McpToolset[]> => visibleToolsets(scope),
});

/** One toolset that the caller may use, by its id or name. Throws NotFound. */
export const getMcpToolset = operation({
  name: 'getMcpToolset',
  access: anyKey,
  async run(scope: McpScope, { id }: { readonly id: string }): Promise<McpToolset> {
    const visible = await visibleToolsets(scope);
    const one = visible.find((toolset) => toolset.id === id) ?? visible.find(({ name }) => name === id);
    if (one === undefined) throw unknownToolset(id);
    return one;
  },
});

/** Stores a toolset. Throws Conflict when its name is taken, and InvalidInput. */
export const createMcpToolset = operation({
  name: 'createMcpToolset',
  access: mcpAdmin,
  async run(scope: McpScope, draft: Pick<McpToolset, 'name' | 'description' | 'tools'>): Promise<McpToolset> {
    const { name, description, tools } = draft;
    const id = scope.platform.ids.uuid();
    const toolset = storableToolset({ id, name, description, tools, ...newStamps(authored(scope)) });
    assertServersExist(scope, tools);
    await scope.platform.stores.mcpToolsets.add(toolset);
    return toolset;
  },
});

/** Changes a toolset. Throws NotFound, Conflict and InvalidInput. */
export const updateMcpToolset = operation({
  name: 'updateMcpToolset',
  access: mcpAdmin,
  async run(
    scope: McpScope,
    { id, patch }: { readonly id: string; readonly patch: McpToolsetPatch },
  ): Promise<McpToolset> {
    assertServersExist(scope, patch.tools ?? []);
    const { now, by } = authored(scope);
    const changed = await scope.platform.stores.mcpToolsets.change(id, (before) =>
      storableToolset({ ...before, ...patch, updatedAt: now, updatedBy: by }),
    );
    if (changed === null) throw unknownToolset(id);
    return changed.after;
  },
});

/** Deletes a toolset. Throws NotFound. */
export const deleteMcpToolset = operation({
  name: 'deleteMcpToolset',
  access: mcpAdmin,
  async run(scope: McpScope, { id }: { readonly id: string }): Promise<McpToolset> {
    const [removed] = await scope.platform.stores.mcpToolsets.remove([id]);
    if (removed === undefined) throw unknownToolset(id);
    return removed;
  },
});
