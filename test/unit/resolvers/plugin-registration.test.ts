import { expect, it } from 'vitest';
import type { Scope } from '../../../resolvers/operation/scope.ts';
import { registerPlugin } from '../../../resolvers/plugins.ts';
import { Conflict, InvalidInput } from '../../../src/domain/errors.ts';
import { MAX_PLUGINS, type Plugin, type PluginDraft } from '../../../src/domain/plugins/plugin.ts';
import { aCaller } from '../../support/chat.ts';

const DRAFT: PluginDraft = {
  name: 'n',
  source: { source: 'github', repo: 'o/r', url: null, path: null, ref: null, sha: null },
  version: null,
  description: null,
  author: null,
  homepage: null,
  keywords: [],
  category: null,
  domain: null,
  namespace: null,
};
const STORED = { id: 'stored', name: 'n', enabled: false } as Plugin;

/**
 * A scope over a store. `found` has the row of the name at each read. `adds` has the result of each addition: false for
 * a conflict.
 */
function aSetup({
  count = 0,
  found = [],
  adds = [],
}: {
  readonly count?: number;
  readonly found?: readonly (Plugin | null)[];
  readonly adds?: readonly boolean[];
}) {
  let reads = 0;
  let additions = 0;
  const plugins = {
    all: () => Promise.resolve([found[reads++] ?? []].flat()),
    count: () => Promise.resolve(count),
    add: () => (adds[additions++] === false ? Promise.reject(new Conflict('taken')) : Promise.resolve()),
    change: (_id: string, change: (row: Plugin) => Plugin) =>
      Promise.resolve({ before: STORED, after: change(STORED) }),
  };
  const platform = { stores: { plugins }, ids: { uuid: () => 'new' }, clock: { now: () => new Date(0) } };
  const scope = { platform, caller: { ...aCaller(), role: 'proxy_admin' } } as unknown as Scope;
  return { scope, additions: () => additions };
}

it('the last plugin below the limit is stored, and none beyond it; a stored one is replaced', async () => {
  const below = aSetup({ count: MAX_PLUGINS - 1 });
  expect(await registerPlugin(below.scope, DRAFT)).toMatchObject({ action: 'created', plugin: { id: 'new' } });
  const full = aSetup({ count: MAX_PLUGINS });
  await expect(registerPlugin(full.scope, DRAFT)).rejects.toThrow(
    new InvalidInput(`At most ${MAX_PLUGINS} plugins can be registered. Delete some.`),
  );
  expect(full.additions()).toBe(0);
  const again = aSetup({ count: MAX_PLUGINS, found: [STORED] });
  expect(await registerPlugin(again.scope, DRAFT)).toMatchObject({
    action: 'updated',
    plugin: { id: 'stored', enabled: false, source: { source: 'github', repo: 'o/r' } },
  });
});

it('a plugin that a concurrent request adds is replaced', async () => {
  const setup = aSetup({ found: [null, STORED], adds: [false] });
  expect(await registerPlugin(setup.scope, DRAFT)).toMatchObject({ action: 'updated', plugin: { id: 'stored' } });
  expect(setup.additions()).toBe(1);
});

it('a registration ends after five conflicts', async () => {
  const setup = aSetup({ adds: [false, false, false, false, false] });
  await expect(registerPlugin(setup.scope, DRAFT)).rejects.toThrow(new Conflict('taken'));
  expect(setup.additions()).toBe(5);
});
