import { describe, expect, it } from 'vitest';
import { InvalidInput } from '../../../src/domain/errors.ts';
import {
  addWithinLimit,
  ALL_MEMORY,
  MAX_ENTRIES,
  type Memory,
  type MemoryStore,
  newMemoryReads,
  withBoundedReads,
} from '../../../src/domain/memory/memory.ts';
import { createMutex } from '../../../src/persistence/database/mutex.ts';

const aMemory = (id: string, overrides: Partial<Memory> = {}): Memory => ({
  id,
  name: id,
  value: '',
  metadata: null,
  userId: 'u',
  teamId: null,
  owner: 'user:u',
  createdAt: new Date(0),
  createdBy: 'u',
  updatedAt: new Date(0),
  updatedBy: 'u',
  ...overrides,
});

/** A store with this number of entries. Each of its methods waits for a turn of the event loop. */
function storeWith(entries: number) {
  let count = entries;
  const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
  const store = {
    async count({ name }: typeof ALL_MEMORY) {
      await turn();
      return name === null ? count : 0;
    },
    async add() {
      await turn();
      count += 1;
    },
    exclusively: createMutex(),
  };
  return { store: store as unknown as MemoryStore, count: () => count };
}

describe('the maximum number of entries of an owner', () => {
  it('is not exceeded by concurrent requests', async () => {
    const { store, count } = storeWith(MAX_ENTRIES - 2);
    const added = await Promise.allSettled(
      Array.from({ length: 5 }, (_item, index) => addWithinLimit(store, aMemory(`m${index}`))),
    );
    expect(added.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'rejected', 'rejected']);
    expect(count()).toBe(MAX_ENTRIES);
  });
});

describe('the reads of a request', () => {
  const MiB = 1024 * 1024;
  const page = { filter: ALL_MEMORY, sort: 'name', descending: false, limit: 100 } as const;
  const first = { createdAt: new Date(0), id: '' };

  /** A store whose pages have rows of this size. */
  function storeOf(row: Partial<Memory>) {
    let running = 0;
    let mostRunning = 0;
    const starts: unknown[] = [];
    const rowsOf = async (length: number): Promise<readonly Memory[]> => {
      running += 1;
      mostRunning = Math.max(mostRunning, running);
      await new Promise((resolve) => void setImmediate(resolve));
      running -= 1;
      return Array.from({ length }, (_item, index) => aMemory(`m${index}`, row));
    };
    const store = {
      count: () => Promise.resolve(0),
      list(asked: { readonly limit: number; readonly from: unknown }) {
        starts.push(asked.from);
        return rowsOf(asked.limit);
      },
      findMany: (ids: readonly string[]) => rowsOf(ids.length),
    };
    return { store: store as unknown as MemoryStore, starts, mostRunning: () => mostRunning };
  }

  it('run one after another, in steps, each from the place of the last row', async () => {
    const { store, starts, mostRunning } = storeOf({ value: 'v' });
    const bounded = withBoundedReads(store, newMemoryReads());
    const [rows] = await Promise.all([bounded.list({ ...page, from: first }), bounded.list({ ...page, from: 0 })]);
    expect([rows.length, mostRunning()]).toEqual([100, 1]);
    expect(starts).toEqual([first, { text: 'm50', id: 'm50' }, 0, 51]);
  });

  it.each([
    ['values', { value: 'v'.repeat(MiB / 2) }],
    ['metadata', { metadata: 'v'.repeat(MiB / 2) }],
  ])('have at most 32 Mi characters of %s together', async (_member, row) => {
    const bounded = withBoundedReads(storeOf(row).store, newMemoryReads());
    const ids = Array.from({ length: 40 }, (_item, index) => `m${index}`);
    expect((await bounded.findMany(ids)).length).toBe(40);
    await expect(bounded.list({ ...page, from: first })).rejects.toThrow(InvalidInput);
    await expect(bounded.findMany(ids)).rejects.toThrow(InvalidInput);
  });
});
