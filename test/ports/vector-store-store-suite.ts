import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Conflict, InvalidInput } from '../../src/domain/errors.ts';
import { Secret } from '../../src/domain/secret.ts';
import {
  FileOwnedStore,
  type StoredVectorStore,
  type VectorStore,
  type VectorStores,
  type VectorStoreStore,
} from '../../src/domain/vector-stores/vector-store.ts';
import { createVectorStores } from '../../src/runtime/vector-stores/vector-stores.ts';
import type { Engine, ScratchDatabase } from './engines.ts';

const NOW = new Date('2026-01-02T03:04:05Z');
const LATER = new Date('2026-01-02T03:05:05Z');
const BY = { now: NOW, by: 'admin' };

const aRow = (overrides: Partial<StoredVectorStore> = {}): StoredVectorStore => ({
  id: 'one',
  provider: 'openai',
  name: 'n',
  description: 'd',
  metadata: { a: 1 },
  credentialName: 'c',
  sealed: 'sealed',
  teamId: 't',
  userId: 'u',
  createdAt: NOW,
  createdBy: 'admin',
  updatedAt: NOW,
  updatedBy: 'admin',
  ...overrides,
});

const DRAFT = {
  id: 'one',
  provider: 'openai',
  name: null,
  description: null,
  metadata: null,
  credentialName: null,
  params: { api_key: 'sk-store', api_base: 'http://h/v1' },
  teamId: null,
  userId: null,
};
const FROM_FILE: VectorStore = {
  ...DRAFT,
  id: 'f',
  params: { api_key: 'os.environ/KEY' },
  isFromConfig: true,
  createdAt: null,
  updatedAt: null,
};

/** Contract of every VectorStoreStore, and of the registered stores of several processes over one store. */
export function vectorStoreStoreSuite(engine: Engine): void {
  describe.skipIf(engine.skipReason !== null)(`VectorStoreStore on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let store: VectorStoreStore;
    const warnings: object[] = [];
    const aProcess = (saltKey = 'salt', rows = store): VectorStores =>
      createVectorStores({
        configured: [FROM_FILE],
        readParams: (params) => ({ ...params, resolved: true }),
        store: rows,
        salt: { current: new Secret(saltKey), former: [] },
        log: { warn: (facts) => void warnings.push(facts) },
      });
    beforeAll(async () => {
      scratch = await engine.create();
      store = (await scratch.open()).vectorStores;
    });
    afterEach(async () => {
      warnings.length = 0;
      await scratch.clear();
    });
    afterAll(() => scratch.remove());

    it('returns a row as it was added, lists the oldest first, and refuses an id a second time', async () => {
      const two = aRow({
        id: 'two',
        name: null,
        description: null,
        metadata: null,
        credentialName: null,
        teamId: null,
        userId: null,
        createdAt: LATER,
      });
      await store.add(two);
      await store.add(aRow());
      expect(await store.all(null)).toEqual([aRow(), two]);
      await expect(store.add(aRow())).rejects.toThrow(new Conflict('Vector store with ID one already exists'));
      expect((await store.change('one', (row) => ({ ...row, name: 'm' })))?.after).toEqual(aRow({ name: 'm' }));
      expect(await store.remove(['one', 'three'])).toEqual([aRow({ name: 'm' })]);
      expect(await store.all(null)).toEqual([two]);
    });

    it('keeps params encrypted; a process with another salt key has none, and may replace all of them', async () => {
      await aProcess().add(DRAFT, BY);
      expect(JSON.stringify(await store.find('one'))).not.toContain('sk-store');
      const withOtherKey = aProcess('other');
      await withOtherKey.refresh();
      await withOtherKey.refresh();
      expect(withOtherKey.list()[1]).toMatchObject({ id: 'one', params: {} });
      expect(warnings).toEqual([{ id: 'one' }]);
      await expect(withOtherKey.change('one', { name: 'm' }, BY)).rejects.toThrow(Conflict);
      const params = { api_key: 'sk-new' };
      expect(await withOtherKey.change('one', { params }, BY)).toMatchObject({ params });
    });

    it('lists params as configured, and finds stores with the values of their variables', async () => {
      const stores = aProcess();
      const added = await stores.add(DRAFT, BY);
      expect(added).toEqual({ ...DRAFT, isFromConfig: false, createdAt: NOW, updatedAt: NOW });
      expect(stores.list()).toEqual([FROM_FILE, added]);
      expect(stores.find('f')).toEqual({ ...FROM_FILE, params: { ...FROM_FILE.params, resolved: true } });
      expect(stores.find('one')).toEqual({ ...added, params: { ...DRAFT.params, resolved: true } });
      expect(stores.find('nope')).toBeNull();
    });

    it('uses the changes of another process after a refresh', async () => {
      const [here, there] = [aProcess(), aProcess('salt', (await scratch.open()).vectorStores)];
      await here.add(DRAFT, BY);
      await there.refresh();
      const params = { api_key: 'REDACTED', api_base: 'http://i/v1' };
      await there.change('one', { name: 'b', params }, { now: LATER, by: 'admin' });
      await here.refresh();
      expect(here.list()[1]).toMatchObject({ name: 'b', params: { ...params, api_key: 'sk-store' }, updatedAt: LATER });
      expect(await here.remove('one')).toMatchObject({ name: 'b' });
      expect(await here.remove('one')).toBeNull();
      expect(await here.change('one', {}, BY)).toBeNull();
      await there.refresh();
      expect(there.list()).toEqual([FROM_FILE]);
    });

    it('refuses changes of stores of the configuration file, and members that cannot be stored', async () => {
      const stores = aProcess();
      await expect(stores.add({ ...DRAFT, id: 'f' }, BY)).rejects.toThrow(Conflict);
      await expect(stores.change('f', { name: 'x' }, BY)).rejects.toThrow(new FileOwnedStore('f'));
      await expect(stores.remove('f')).rejects.toThrow(new FileOwnedStore('f'));
      await expect(stores.add({ ...DRAFT, provider: '' }, BY)).rejects.toThrow(InvalidInput);
      await expect(stores.add({ ...DRAFT, teamId: 'a\0' }, BY)).rejects.toThrow(InvalidInput);
      stores.configure([]);
      expect(stores.list()).toEqual([]);
    });
  });
}
