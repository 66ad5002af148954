import { Conflict, InvalidInput } from '../src/domain/errors.ts';
import {
  ALL_PLUGINS,
  checkedPlugin,
  MAX_PLUGINS,
  newPlugin,
  type Plugin,
  type PluginDraft,
  type PluginFilter,
  type PluginSort,
  replacedPlugin,
  unknownPlugin,
} from '../src/domain/plugins/plugin.ts';
import type { RowPage } from '../src/domain/row-store.ts';
import { anyone } from './operation/access.ts';
import { authored } from './operation/authored.ts';
import { operation } from './operation/operation.ts';
import { pluginAdmin, pluginViewer } from './operation/plugin-access.ts';
import type { PluginPlatform } from './operation/plugin-platform.ts';
import { type FoundPage, pageOf } from './operation/row-pages.ts';
import type { Scope } from './operation/scope.ts';

type PluginScope = Scope<PluginPlatform>;

interface NamedPlugin {
  readonly name: string;
}

/** Lists the enabled plugins, for clients that install them. */
export const readMarketplace = operation({
  name: 'readMarketplace',
  access: anyone,
  run: ({ platform }: PluginScope, _input: undefined): Promise<readonly Plugin[]> => platform.marketplace.plugins(),
});

/** A page of plugins. */
export const listPlugins = operation({
  name: 'listPlugins',
  access: pluginViewer,
  run: (
    { platform }: PluginScope,
    { filter, page }: { readonly filter: PluginFilter; readonly page: Omit<RowPage<unknown, PluginSort>, 'filter'> },
  ): Promise<FoundPage<Plugin>> => pageOf(platform.stores.plugins, filter, page),
});

const findNamed = async ({ platform }: PluginScope, { name }: NamedPlugin): Promise<Plugin | null> =>
  (await platform.stores.plugins.all({ ...ALL_PLUGINS, name })).at(0) ?? null;

/** One plugin by its name. Throws NotFound. */
export const getPlugin = operation({
  name: 'getPlugin',
  access: pluginViewer,
  async run(scope: PluginScope, named: NamedPlugin): Promise<Plugin> {
    const found = await findNamed(scope, named);
    if (found === null) throw unknownPlugin(named.name);
    return found;
  },
});

/** The plugins with these ids that exist, in no particular order. */
export const getPlugins = operation({
  name: 'getPlugins',
  access: pluginViewer,
  run: ({ platform }: PluginScope, { ids }: { readonly ids: readonly string[] }): Promise<readonly Plugin[]> =>
    platform.stores.plugins.findMany(ids),
});

/** Maximum number of attempts of a registration that conflicts with concurrent ones. */
const ATTEMPTS = 5;

/** Registers a plugin, or replaces the one with its name. Throws InvalidInput, and Conflict after many conflicts. */
export const registerPlugin = operation({
  name: 'registerPlugin',
  access: pluginAdmin,
  async run(
    scope: PluginScope,
    draft: PluginDraft,
  ): Promise<{ readonly plugin: Plugin; readonly action: 'created' | 'updated' }> {
    const content = checkedPlugin(draft);
    const by = authored(scope);
    const { plugins } = scope.platform.stores;
    for (let attempt = 1; ; attempt += 1) {
      const found = await findNamed(scope, content);
      const changed = found === null ? null : await plugins.change(found.id, (row) => replacedPlugin(row, content, by));
      if (changed !== null) return { plugin: changed.after, action: 'updated' };
      if ((await plugins.count(ALL_PLUGINS)) >= MAX_PLUGINS)
        throw new InvalidInput(`At most ${MAX_PLUGINS} plugins can be registered. Delete some.`);
      const plugin = newPlugin(content, { ...by, id: scope.platform.ids.uuid() });
      try {
        await plugins.add(plugin);
        return { plugin, action: 'created' };
      } catch (failure) {
        // A concurrent request has added the plugin.
        if (!(failure instanceof Conflict) || attempt >= ATTEMPTS) throw failure;
      }
    }
  },
});

/** Replaces the content of a plugin. A disabled one stays disabled. Throws InvalidInput and NotFound. */
export const replacePlugin = operation({
  name: 'replacePlugin',
  access: pluginAdmin,
  async run(scope: PluginScope, draft: PluginDraft): Promise<Plugin> {
    const content = checkedPlugin(draft);
    const by = authored(scope);
    const found = await findNamed(scope, content);
    const changed =
      found === null
        ? null
        : await scope.platform.stores.plugins.change(found.id, (row) => replacedPlugin(row, content, by));
    if (changed === null) throw unknownPlugin(content.name);
    return changed.after;
  },
});

/** Enables or disables a plugin: the marketplace lists only enabled ones. Throws NotFound. */
export const switchPlugin = operation({
  name: 'switchPlugin',
  access: pluginAdmin,
  async run(scope: PluginScope, { name, enabled }: NamedPlugin & { readonly enabled: boolean }): Promise<Plugin> {
    const { now, by } = authored(scope);
    const found = await findNamed(scope, { name });
    const changed =
      found === null
        ? null
        : await scope.platform.stores.plugins.change(found.id, (row) =>
            row.enabled === enabled ? row : { ...row, enabled, updatedAt: now, updatedBy: by },
          );
    if (changed === null) throw unknownPlugin(name);
    return changed.after;
  },
});

/** Removes a plugin. Throws NotFound. */
export const deletePlugin = operation({
  name: 'deletePlugin',
  access: pluginAdmin,
  async run(scope: PluginScope, named: NamedPlugin): Promise<Plugin> {
    const found = await findNamed(scope, named);
    const [removed] = found === null ? [] : await scope.platform.stores.plugins.remove([found.id]);
    if (removed === undefined) throw unknownPlugin(named.name);
    return removed;
  },
});
