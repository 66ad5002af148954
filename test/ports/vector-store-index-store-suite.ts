import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Conflict } from '../../src/domain/errors.ts';
import type {
  VectorStoreIndex,
  VectorStoreIndexStore,
} from '../../src/domain/vector-store-indexes/vector-store-index.ts';
import { createVectorStoreIndexes } from '../../src/runtime/vector-store-indexes/vector-store-indexes.ts';
import type { Engine, ScratchDatabase } from './engines.ts';

const NOW = new Date('2026-01-02T03:04:05Z');
const LATER = new Date('2026-01-02T03:05:05Z');

const anIndex = (overrides: Partial<VectorStoreIndex> = {}): VectorStoreIndex => ({
  id: 'one',
  name: 'handbook',
  storeId: 'vs_1',
  accountName: 'account',
  info: { a: 1 },
  createdAt: NOW,
  createdBy: 'admin',
  updatedAt: NOW,
  updatedBy: 'admin',
  ...overrides,
});

/** Contract of every VectorStoreIndexStore, and of the indexes of several processes over one store. */
export function vectorStoreIndexStoreSuite(engine: Engine): void {
  describe.skipIf(engine.skipReason !== null)(`VectorStoreIndexStore on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let store: VectorStoreIndexStore;
    beforeAll(async () => {
      scratch = await engine.create();
      store = (await scratch.open()).vectorStoreIndexes;
    });
    afterEach(() => scratch.clear());
    afterAll(() => scratch.remove());

    it('returns rows unchanged, oldest first; refuses used names; removes rows', async () => {
      const two = anIndex({ id: 'two', name: 'manual', info: null, createdAt: LATER });
      await store.add(two);
      await store.add(anIndex());
      expect(await store.all(null)).toEqual([anIndex(), two]);
      await expect(store.add(anIndex({ id: 'three' }))).rejects.toThrow(new Conflict('Index handbook already exists'));
      expect(await store.remove(['one', 'three'])).toEqual([anIndex()]);
      expect(await store.all(null)).toEqual([two]);
    });

    it('has the changes of another process after a refresh, and removes its rows before', async () => {
      const [here, there] = [store, (await scratch.open()).vectorStoreIndexes].map(createVectorStoreIndexes);
      if (here === undefined || there === undefined) throw new TypeError('There are two processes.');
      const second = anIndex({ id: 'two', name: 'vs_1', storeId: 'vs_2', createdAt: LATER });
      await here.add(anIndex());
      await here.add(second);
      expect([here.ofStore('vs_1'), here.ofStore('vs_2'), here.ofStore('none')]).toEqual([[anIndex()], [second], []]);
      expect(there.list()).toEqual([]);
      expect(await there.remove('vs_1')).toEqual(second);
      expect(await there.remove('vs_1')).toBeNull();
      expect(there.list()).toEqual([anIndex()]);
      await here.refresh();
      expect([here.named('vs_1'), here.named('handbook')]).toEqual([null, anIndex()]);
    });
  });
}
