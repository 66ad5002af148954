import { Conflict, InvalidInput, Unavailable } from '../src/domain/errors.ts';
import {
  ALL_MEMORY,
  MAX_ENTRIES,
  type Memory,
  memoryExists,
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
  withBoundedPages,
} from '../src/domain/memory/memory.ts';
import { isAnyAdmin } from './operation/access.ts';
import { authored } from './operation/authored.ts';
import { memoryReader, memoryWriter } from './operation/memory-access.ts';
import type { MemoryPlatform } from './operation/memory-platform.ts';
import { callerOf, operation } from './operation/operation.ts';
import { type FilteredPage, type FoundPage, pageOf } from './operation/row-pages.ts';
import type { Scope } from './operation/scope.ts';

type MemoryScope = Scope<MemoryPlatform>;

/** An entry by its name. Administrators may name its owner. */
export interface NamedMemory extends NamedOwner {
  readonly name: string;
}

const namesOwner = ({ userId, teamId }: NamedOwner): boolean => userId !== undefined || teamId !== undefined;

/** The entry of a name: of the named owner, else of the caller's user, else of its team. Null without one. */
async function findOwn(scope: MemoryScope, { name, ...named }: NamedMemory): Promise<Memory | null> {
  const caller = callerOf(scope);
  const owners = namesOwner(named) ? [ownerOfDraft(caller, named).owner] : ownersOf(caller);
  const own = owners.length === 0 ? [] : await scope.platform.stores.memory.all({ ...ALL_MEMORY, owners, name });
  return owners.flatMap((owner) => own.filter((one) => one.owner === owner)).at(0) ?? null;
}

/**
 * As `findOwn`. Administrators also find the entry of another owner where only one has the name. Throws Forbidden for
 * the memory of another, and Conflict where several owners have the name.
 */
async function findNamed(scope: MemoryScope, { name, ...named }: NamedMemory): Promise<Memory | null> {
  const { memory } = scope.platform.stores;
  const found = await findOwn(scope, { name, ...named });
  if (found !== null || namesOwner(named) || !isAnyAdmin(callerOf(scope))) return found;
  const page = { sort: 'created_at', descending: false, limit: 2, from: 0 } as const;
  const [first, second] = await memory.list({ ...page, filter: { ...ALL_MEMORY, name } });
  if (second !== undefined)
    throw new Conflict(`Several users and teams have a memory with key '${name}'. Name one by user_id or team_id.`);
  return first ?? null;
}

/** Stores a new entry. Throws Conflict when its owner has the name, Forbidden, and InvalidInput. */
export const createMemory = operation({
  name: 'createMemory',
  access: memoryWriter,
  run: (scope: MemoryScope, draft: MemoryDraft): Promise<Memory> => addMemory(scope, draft),
});

async function addMemory(scope: MemoryScope, draft: MemoryDraft): Promise<Memory> {
  const { stores, ids } = scope.platform;
  const entry = newMemory(callerOf(scope), draft, { ...authored(scope), id: ids.uuid() });
  const filter = { ...ALL_MEMORY, owners: [entry.owner] };
  if ((await stores.memory.count({ ...filter, name: entry.name })) > 0) throw memoryExists(entry.name);
  if ((await stores.memory.count(filter)) >= MAX_ENTRIES)
    throw new InvalidInput(`A user or team has at most ${MAX_ENTRIES} memories. Delete some.`);
  await stores.memory.add(entry);
  return entry;
}

/** One entry by its name. Throws NotFound and Conflict. */
export const getMemory = operation({
  name: 'getMemory',
  access: memoryReader,
  async run(scope: MemoryScope, named: NamedMemory): Promise<Memory> {
    const found = await findNamed(scope, named);
    if (found === null) throw unknownMemory(named.name);
    return found;
  },
});

/** Entries by their ids that the caller may use, in no particular order. */
export const getMemories = operation({
  name: 'getMemories',
  access: memoryReader,
  async run(scope: MemoryScope, { ids }: { readonly ids: readonly string[] }): Promise<readonly Memory[]> {
    const caller = callerOf(scope);
    const owners = ownersOf(caller);
    const found = await scope.platform.stores.memory.findMany(ids);
    return found.filter(({ owner }) => isAnyAdmin(caller) || owners.includes(owner));
  },
});

/** Maximum number of attempts to store an entry that concurrent requests add and remove. */
const MAX_ATTEMPTS = 5;

/**
 * Changes an entry, or stores a new one. Throws what `createMemory` throws except for Conflict, also for a new entry
 * without a value. Throws Unavailable when concurrent requests add and remove the entry at every attempt.
 */
export const putMemory = operation({
  name: 'putMemory',
  access: memoryWriter,
  async run(scope: MemoryScope, { patch, ...named }: NamedMemory & { readonly patch: MemoryPatch }): Promise<Memory> {
    const by = authored(scope);
    const { memory } = scope.platform.stores;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const found = await findOwn(scope, named);
      const changed = found === null ? null : await memory.change(found.id, (row) => patchedMemory(row, patch, by));
      if (changed !== null) return changed.after;
      const { value, metadata = null } = patch;
      if (value === undefined) throw new InvalidInput('value is required for a new memory');
      try {
        return await addMemory(scope, { ...named, value, metadata });
      } catch (failure) {
        // A concurrent request has added the entry.
        if (!(failure instanceof Conflict)) throw failure;
      }
    }
    throw new Unavailable('The memory is being changed by other requests. Try again.');
  },
});

/** Removes an entry. Throws NotFound and Conflict. */
export const deleteMemory = operation({
  name: 'deleteMemory',
  access: memoryWriter,
  async run(scope: MemoryScope, named: NamedMemory): Promise<Memory> {
    const found = await findNamed(scope, named);
    const [removed] = found === null ? [] : await scope.platform.stores.memory.remove([found.id]);
    if (removed === undefined) throw unknownMemory(named.name);
    return removed;
  },
});

/** A page of the entries that the caller may use. Administrators see all. Throws InvalidInput for too long values. */
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
    return await pageOf(withBoundedPages(scope.platform.stores.memory), { ...filter, owners }, page);
  },
});

/** Order, size and start of a page: a number of rows to skip, or a place. */
type MemoryPage = Omit<FilteredPage<MemoryFilter, MemorySort>['page'], 'from'> & {
  readonly from: Parameters<MemoryPlatform['stores']['memory']['list']>[0]['from'];
};
