import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Conflict } from '../../src/domain/errors.ts';
import { ALL_MEMORY, type Memory, type MemoryStore } from '../../src/domain/memory/memory.ts';
import type { Engine, ScratchDatabase } from './engines.ts';

const at = (second: number): Date => new Date(Date.UTC(2026, 0, 2, 3, 4, second));

const aMemory = (id: string, overrides: Partial<Memory> = {}): Memory => ({
  id,
  name: id,
  value: 'a\nb',
  metadata: { z: 1, a: [null, 'x'] },
  userId: 'u',
  teamId: 't',
  owner: 'user:u',
  createdAt: at(1),
  createdBy: 'u',
  updatedAt: at(1),
  updatedBy: 'u',
  ...overrides,
});

/** Contract of every MemoryStore. */
export function memoryStoreSuite(engine: Engine): void {
  describe.skipIf(engine.skipReason !== null)(`MemoryStore on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let store: MemoryStore;
    beforeAll(async () => {
      scratch = await engine.create();
      store = (await scratch.open()).memory;
    });
    afterEach(() => scratch.clear());
    afterAll(() => scratch.remove());

    it.each([null, { z: 1, a: [null] }, [1, 'x'], 'text', 3, true])(
      'returns an added entry unchanged, with the metadata %j',
      async (metadata) => {
        const row = aMemory('one', { metadata, userId: null, teamId: 't', owner: 'team:t' });
        await store.add(row);
        expect(await store.find('one')).toEqual(row);
      },
    );

    it('refuses a second entry of one owner with one name', async () => {
      await store.add(aMemory('one', { name: 'n' }));
      await store.add(aMemory('two', { name: 'n', owner: 'team:t' }));
      await expect(store.add(aMemory('three', { name: 'n' }))).rejects.toThrow(
        new Conflict("Memory with key 'n' already exists"),
      );
    });

    it('filters by owner, name, start of the name, and search; upper and lower case differ', async () => {
      const names = ['ab', 'aB', 'a%', 'a_', '😀x', 'é'];
      for (const [index, name] of names.entries())
        await store.add(aMemory(`id${index}`, { name, createdAt: at(index) }));
      await store.add(aMemory('other', { name: 'ab', owner: 'team:t', createdAt: at(50) }));
      const found = async (filter: Partial<typeof ALL_MEMORY>): Promise<readonly string[]> =>
        (await store.all({ ...ALL_MEMORY, ...filter })).map(({ name }) => name);
      expect(await found({})).toEqual([...names, 'ab']);
      expect(await found({ owners: ['user:u'] })).toEqual(names);
      expect(await found({ owners: ['team:t', 'team:s'] })).toEqual(['ab']);
      expect(await found({ name: 'ab', owners: ['user:u'] })).toEqual(['ab']);
      expect(await found({ namePrefix: 'aB' })).toEqual(['aB']);
      expect(await found({ namePrefix: 'a%' })).toEqual(['a%']);
      expect(await found({ namePrefix: 'a_' })).toEqual(['a_']);
      expect(await found({ namePrefix: '😀' })).toEqual(['😀x']);
      expect(await found({ namePrefix: 'é' })).toEqual(['é']);
      expect(await found({ namePrefix: 'a\0' })).toEqual([]);
      expect(await found({ search: 'id2' })).toEqual(['a%']);
      expect(await found({ search: 'ab' })).toEqual(['ab', 'ab']);
      expect(await store.count({ ...ALL_MEMORY, namePrefix: 'a' })).toBe(5);
    });
  });
}
