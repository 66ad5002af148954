import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KeyFilter, KeyStore } from '../../src/domain/keys/virtual-key.ts';
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
  describe.skipIf(engine.missing !== null)(`filters of keys on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let keys: KeyStore;
    beforeAll(async () => {
      scratch = await engine.create();
      keys = (await scratch.open()).keys;
    });
    afterAll(() => scratch.remove());

    it('match the project, the organization and an access group of the settings', async () => {
      const all = [
        { projectId: "p'1", organizationId: 'o1' },
        { organizationId: 'o1', accessGroupIds: ['g1', "g'2"] },
        { accessGroupIds: ['"],\\"', 'g1', 'é.*'], tags: ['a\ud800b', '"accessGroupIds":["g3"]', 'g3'] },
      ];
      await Promise.all(
        all.map((settings, at) => keys.add(aKey({ hash: String(at).repeat(64), alias: `key ${at}`, settings }))),
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
  });
