import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newAccessGroup } from '../../src/domain/access-groups/access-group.ts';
import type { KeyFilter } from '../../src/domain/keys/virtual-key.ts';
import type { Stores } from '../../src/persistence/stores.ts';
import { ENGINES, type ScratchDatabase } from './engines.ts';
import { aKey, START_MS } from './samples.ts';

const ANY: KeyFilter = {
  hash: null,
  alias: null,
  teamId: null,
  userId: null,
  blocked: null,
  status: null,
  visibleTo: null,
};

for (const engine of ENGINES)
  describe.skipIf(engine.skipReason !== null)(`filters of keys on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let stores: Stores;
    beforeAll(async () => {
      scratch = await engine.create();
      stores = await scratch.open();
    });
    afterAll(() => scratch.remove());

    it('filters match the project, the organization and an access group of the settings', async () => {
      const { keys } = stores;
      // The tags of the last key look like access groups. They must not match.
      const settingsOfKeys = [
        { projectId: "p'1", organizationId: 'o1' },
        { organizationId: 'o1', accessGroupIds: ['g1', "g'2"] },
        { accessGroupIds: ['"],\\"', 'g1', 'é.*'], tags: ['a\ud800b', '"accessGroupIds":["g3"]', 'g3'] },
      ];
      await Promise.all(
        settingsOfKeys.map((settings, index) =>
          keys.add(aKey({ hash: String(index).repeat(64), alias: `key ${index}`, settings })),
        ),
      );
      const filters: readonly (readonly [Partial<KeyFilter>, readonly string[]])[] = [
        [{ projectId: "p'1" }, ['key 0']],
        [{ organizationId: 'o1' }, ['key 0', 'key 1']],
        [{ accessGroupId: 'g1' }, ['key 1', 'key 2']],
        [{ accessGroupId: "g'2", organizationId: 'o1' }, ['key 1']],
        [{ accessGroupId: 'é.*' }, ['key 2']],
        [{ accessGroupId: '"],\\"' }, ['key 2']],
        [{ accessGroupId: 'g' }, []],
        [{ accessGroupId: 'g3' }, []],
        [{ accessGroupId: 'g.' }, []],
        [{ projectId: null, organizationId: null, accessGroupId: null }, ['key 0', 'key 1', 'key 2']],
      ];
      const now = new Date(START_MS);
      const found = filters.map(async ([some]) => {
        const filter = { ...ANY, ...some };
        const rows = await keys.list({ filter, now, sort: 'token', descending: false, limit: 10, from: 0 });
        return [rows.map(({ alias }) => alias), await keys.count(filter, now)];
      });
      expect(await Promise.all(found)).toEqual(filters.map(([, aliases]) => [aliases, aliases.length]));
    });

    it('filters match an access group that a key names, or that names the key', async () => {
      const { keys, accessGroups } = stores;
      const [naming, listed] = ['a'.repeat(64), 'b'.repeat(64)];
      await Promise.all([
        keys.add(aKey({ hash: naming, alias: 'naming', settings: { accessGroupIds: ['group'] } })),
        keys.add(aKey({ hash: listed, alias: 'listed' })),
      ]);
      const about = { id: 'group', now: new Date(START_MS), by: 'admin' };
      await accessGroups.add(
        newAccessGroup({ name: 'group', keyIds: [listed, `"${'2'.repeat(64)}"`, 'a\ud800b'] }, about),
      );
      const page = { now: about.now, sort: 'key_alias', descending: false, limit: 10, from: 0 } as const;
      const aliasesOf = async (accessGroupId: string, some: Partial<KeyFilter> = {}) =>
        (await keys.list({ filter: { ...ANY, ...some, accessGroupId }, ...page })).map(({ alias }) => alias);
      expect(await aliasesOf('group')).toEqual(['listed', 'naming']);
      expect(await aliasesOf('group', { visibleTo: { hash: naming, userId: null } })).toEqual(['naming']);
      expect(await aliasesOf('Group')).toEqual([]);
    });
  });
