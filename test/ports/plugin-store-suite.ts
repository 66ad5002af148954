import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Scope } from '../../resolvers/operation/scope.ts';
import { registerPlugin } from '../../resolvers/plugins.ts';
import { Conflict } from '../../src/domain/errors.ts';
import { ALL_PLUGINS, type Plugin, type PluginStore } from '../../src/domain/plugins/plugin.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { randomIds } from '../../src/runtime/identifiers.ts';
import { aCaller } from '../support/chat.ts';
import type { Engine, ScratchDatabase } from './engines.ts';

const at = (second: number): Date => new Date(Date.UTC(2026, 0, 2, 3, 4, second));

const aPlugin = (id: string, overrides: Partial<Plugin> = {}): Plugin => ({
  id,
  name: id,
  source: { source: 'git-subdir', url: 'https://git.test/a.git', path: 'x', ref: 'main', sha: 'a'.repeat(40) },
  version: '1.0.0',
  description: 'a\nb',
  author: { name: 'A', email: null },
  homepage: 'https://h.test/',
  keywords: ['z', 'a'],
  category: 'c',
  domain: 'd',
  namespace: 'n',
  enabled: true,
  createdAt: at(1),
  createdBy: 'u',
  updatedAt: at(1),
  updatedBy: 'u',
  ...overrides,
});
const BARE = {
  source: { source: 'github', repo: 'o/r' },
  version: null,
  description: null,
  author: null,
  homepage: null,
  keywords: [],
  category: null,
  domain: null,
  namespace: null,
  enabled: false,
} as const;

/** Contract of every PluginStore. */
export function pluginStoreSuite(engine: Engine): void {
  describe.skipIf(engine.skipReason !== null)(`PluginStore on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let store: PluginStore;
    beforeAll(async () => {
      scratch = await engine.create();
      store = (await scratch.open()).plugins;
    });
    afterEach(() => scratch.clear());
    afterAll(() => scratch.remove());

    it('returns rows as they were added and changed', async () => {
      await store.add(aPlugin('full'));
      await store.add(aPlugin('bare', BARE));
      expect(await store.find('full')).toEqual(aPlugin('full'));
      expect(await store.find('bare')).toEqual(aPlugin('bare', BARE));
      const changed = await store.change('full', (row) => ({ ...row, ...BARE, updatedAt: at(9) }));
      expect(changed?.after).toEqual(aPlugin('full', { ...BARE, updatedAt: at(9) }));
      expect(await store.find('full')).toEqual(changed?.after);
      expect(await store.remove(['full', 'nope'])).toEqual([changed?.after]);
      expect(await store.all(ALL_PLUGINS)).toEqual([aPlugin('bare', BARE)]);
    });

    it('has a name once', async () => {
      await store.add(aPlugin('one', { name: 'n' }));
      await expect(store.add(aPlugin('two', { name: 'n' }))).rejects.toThrow(new Conflict("Plugin 'n' already exists"));
      const results = await Promise.allSettled([
        store.add(aPlugin('three', { name: 'm' })),
        store.add(aPlugin('four', { name: 'm' })),
      ]);
      expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    });

    it('has one plugin after concurrent registrations of one name', async () => {
      const platform = { stores: { plugins: store }, ids: randomIds, clock: systemClock };
      const scope = { platform, caller: { ...aCaller(), role: 'proxy_admin' } } as unknown as Scope;
      const source = { source: 'github', repo: 'o/r', url: null, path: null, ref: null, sha: null } as const;
      const results = await Promise.all(
        Array.from({ length: 6 }, (_, index) =>
          registerPlugin(scope, { ...BARE, name: 'race', source, version: String(index) }),
        ),
      );
      expect(results.filter(({ action }) => action === 'created')).toHaveLength(1);
      expect(await store.all(ALL_PLUGINS)).toMatchObject([{ name: 'race' }]);
    });

    it('filters and orders', async () => {
      await store.add(aPlugin('b', { createdAt: at(3) }));
      await store.add(aPlugin('a-b', { createdAt: at(1), category: 'x' }));
      await store.add(aPlugin('c', { createdAt: at(2), enabled: false }));
      const found = async (filter: Partial<typeof ALL_PLUGINS>): Promise<readonly string[]> =>
        (await store.all({ ...ALL_PLUGINS, ...filter })).map(({ name }) => name);
      expect(await found({})).toEqual(['a-b', 'c', 'b']);
      expect(await found({ enabled: true })).toEqual(['a-b', 'b']);
      expect(await found({ enabled: false })).toEqual(['c']);
      expect(await found({ name: 'b' })).toEqual(['b']);
      expect(await found({ nameContains: 'B' })).toEqual(['a-b', 'b']);
      expect(await found({ nameContains: '%' })).toEqual([]);
      expect(await found({ category: 'x', enabled: true })).toEqual(['a-b']);
      const page = { filter: ALL_PLUGINS, sort: 'name', descending: true, limit: 2 } as const;
      expect((await store.list({ ...page, from: 0 })).map(({ name }) => name)).toEqual(['c', 'b']);
      expect((await store.list({ ...page, from: { text: 'b', id: 'b' } })).map(({ name }) => name)).toEqual(['a-b']);
      expect(await store.count({ ...ALL_PLUGINS, enabled: true })).toBe(2);
    });
  });
}
