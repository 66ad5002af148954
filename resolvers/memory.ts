import { Conflict, InvalidInput, Unavailable } from '../src/domain/errors.ts';
import {
  addWithinLimit,
  ALL_MEMORY,
  type Memory,
  type MemoryDraft,
  type MemoryFilter,
  type MemoryPatch,
  type MemorySort,
  type NamedOwner,
  newMemory,
  ownerOfDraft,
  ownersOf,
  patchedMemory,
  unknownMemory,
  withBoundedReads,
} from '../src/domain/memory/memory.ts';
import type { RowPage } from '../src/domain/row-store.ts';
import { isAnyAdmin } from './operation/access.ts';
import { authored } from './operation/authored.ts';
import { memoryReader, memoryWriter } from './operation/memory-access.ts';
import type { MemoryPlatform } from './operation/memory-platform.ts';
import { callerOf, operation } from './operation/operation.ts';
import { type FoundPage, pageOf } from './operation/row-pages.ts';
import type { Scope } from './operation/scope.ts';

type MemoryScope = Scope<MemoryPlatform>;

/** Name of an entry, with the owner that the request names, if any. */
export interface NamedMemory extends NamedOwner {
  readonly name: string;
}

/** The store, with a limit for all reads of a request. All fields of a graph operation have the same loaders. */
const boundedReads = ({ platform, loaders }: MemoryScope): ReturnType<typeof withBoundedReads> =>
  withBoundedReads(platform.stores.memory, loaders.memoryReads);

const namesOwner = ({ userId, teamId }: NamedOwner): boolean => userId !== undefined || teamId !== undefined;

/**
 * The entry with this name of the owner that the request names. Without such an owner: the entry of the caller's user,
 * else of the caller's team. Null when there is no such entry. Throws Forbidden when a caller that is no administrator
 * names another owner, and InvalidInput when neither a user nor a team can own the entry.
 */
async function findByOwner(scope: MemoryScope, { name, ...named }: NamedMemory): Promise<Memory | null> {
  const caller = callerOf(scope);
  const owners = namesOwner(named) ? [ownerOfDraft(caller, named).owner] : ownersOf(caller);
  if (owners.length === 0) return null;
  const entries = await scope.platform.stores.memory.all({ ...ALL_MEMORY, owners, name });
  const byOwner = new Map(entries.map((entry) => [entry.owner, entry]));
  for (const owner of owners) {
    const entry = byOwner.get(owner);
    if (entry !== undefined) return entry;
  }
  return null;
}

/**
 * As `findByOwner`. An administrator that names no owner also finds an entry of any other owner. Throws Conflict when
 * several other owners have an entry with the name.
 */
async function findForAnyOwner(scope: MemoryScope, { name, ...named }: NamedMemory): Promise<Memory | null> {
  const { memory } = scope.platform.stores;
  const found = await findByOwner(scope, { name, ...named });
  if (found !== null || namesOwner(named) || !isAnyAdmin(callerOf(scope))) return found;
  const page = { sort: 'created_at', descending: false, limit: 2, from: 0 } as const;
  const [first, second] = await memory.list({ ...page, filter: { ...ALL_MEMORY, name } });
  if (second !== undefined)
    throw new Conflict(`Several users and teams have a memory with key '${name}'. Name one by user_id or team_id.`);
  return first ?? null;
}

/**
 * Stores a new entry. Throws Conflict when the owner already has an entry with the name. Throws Forbidden when a caller
 * that is no administrator names another owner. Throws InvalidInput for wrong texts, without an owner, and for more
 * than `MAX_ENTRIES` entries of one owner.
 */
export const createMemory = operation({
  name: 'createMemory',
  access: memoryWriter,
  run: (scope: MemoryScope, draft: MemoryDraft): Promise<Memory> => addMemory(scope, draft),
});

async function addMemory(scope: MemoryScope, draft: MemoryDraft): Promise<Memory> {
  const { stores, ids } = scope.platform;
  const entry = newMemory(callerOf(scope), draft, { ...authored(scope), id: ids.uuid() });
  await addWithinLimit(stores.memory, entry);
  return entry;
}

/** Reads an entry by its name. Throws NotFound, and what `findForAnyOwner` throws. */
export const getMemory = operation({
  name: 'getMemory',
  access: memoryReader,
  async run(scope: MemoryScope, named: NamedMemory): Promise<Memory> {
    const found = await findForAnyOwner(scope, named);
    if (found === null) throw unknownMemory(named.name);
    return found;
  },
});

/** Reads entries by their ids, in no particular order. Leaves out entries that the caller may not read. */
export const getMemories = operation({
  name: 'getMemories',
  access: memoryReader,
  async run(scope: MemoryScope, { ids }: { readonly ids: readonly string[] }): Promise<readonly Memory[]> {
    const caller = callerOf(scope);
    const owners = ownersOf(caller);
    const found = await boundedReads(scope).findMany(ids);
    return found.filter(({ owner }) => isAnyAdmin(caller) || owners.includes(owner));
  },
});

/** Maximum number of attempts to store an entry that concurrent requests add and remove. */
const MAX_ATTEMPTS = 5;

/**
 * Changes the entry of an owner, or stores a new entry where the owner has none with the name. Throws what
 * `createMemory` throws except for Conflict, and InvalidInput for a new entry without a value. Throws Unavailable when
 * concurrent requests add and remove the entry at every attempt.
 */
export const putMemory = operation({
  name: 'putMemory',
  access: memoryWriter,
  async run(scope: MemoryScope, { patch, ...named }: NamedMemory & { readonly patch: MemoryPatch }): Promise<Memory> {
    const by = authored(scope);
    const { memory } = scope.platform.stores;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const found = await findByOwner(scope, named);
      const changed = found === null ? null : await memory.change(found.id, (row) => patchedMemory(row, patch, by));
      if (changed !== null) return changed.after;
      const { value, metadata = null } = patch;
      if (value === undefined) throw new InvalidInput('value is required for a new memory');
      try {
        return await addMemory(scope, { ...named, value, metadata });
      } catch (failure) {
        // A concurrent request has added the entry. The next attempt changes it.
        if (!(failure instanceof Conflict)) throw failure;
      }
    }
    throw new Unavailable('The memory is being changed by other requests. Try again.');
  },
});

/** Removes an entry. Throws NotFound, and what `findForAnyOwner` throws. */
export const deleteMemory = operation({
  name: 'deleteMemory',
  access: memoryWriter,
  async run(scope: MemoryScope, named: NamedMemory): Promise<Memory> {
    const found = await findForAnyOwner(scope, named);
    const [removed] = found === null ? [] : await scope.platform.stores.memory.remove([found.id]);
    if (removed === undefined) throw unknownMemory(named.name);
    return removed;
  },
});

/**
 * A page of the entries that the caller may read. Administrators see all entries. Throws InvalidInput when the values
 * of a page that skips rows have too many characters in total.
 */
export const listMemory = operation({
  name: 'listMemory',
  access: memoryReader,
  async run(
    scope: MemoryScope,
    { filter, page }: { readonly filter: Omit<MemoryFilter, 'owners'>; readonly page: MemoryPage },
  ): Promise<FoundPage<Memory>> {
    const caller = callerOf(scope);
    const owners = isAnyAdmin(caller) ? null : ownersOf(caller);
    if (owners?.length === 0) return { nodes: [], totalCount: 0, hasMore: false };
    return await pageOf(boundedReads(scope), { ...filter, owners }, page);
  },
});

/** Order, size and start of a page. */
type MemoryPage = Omit<RowPage<MemoryFilter, MemorySort>, 'filter'>;
