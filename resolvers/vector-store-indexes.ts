import type { Caller } from '../src/domain/caller.ts';
import { Conflict, InvalidInput } from '../src/domain/errors.ts';
import { isIndexListedFor } from '../src/domain/vector-store-indexes/index-rights.ts';
import {
  newVectorStoreIndex,
  unknownIndex,
  type VectorStoreIndex,
  type VectorStoreIndexDraft,
} from '../src/domain/vector-store-indexes/vector-store-index.ts';
import { isAnyAdmin, system } from './operation/access.ts';
import { authored } from './operation/authored.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { Scope } from './operation/scope.ts';
import { vectorStoreAdmin, vectorStoreReader } from './operation/vector-store-access.ts';
import type { VectorStorePlatform } from './operation/vector-store-platform.ts';

type IndexScope = Scope<Pick<VectorStorePlatform, 'vectorStores' | 'vectorStoreIndexes' | 'clock' | 'ids'>>;

/** An index as a caller sees it. Callers who are not administrators do not see its store and its account. */
export interface ShownIndex extends Omit<VectorStoreIndex, 'storeId' | 'accountName'> {
  readonly storeId: string | null;
  readonly accountName: string | null;
}

const visibleTo = (caller: Caller, index: VectorStoreIndex): ShownIndex =>
  isAnyAdmin(caller) ? index : { ...index, storeId: null, accountName: null };

/** Lists the indexes that the caller may read, the oldest first: administrators all, other keys the granted ones. */
export const listVectorStoreIndexes = operation({
  name: 'listVectorStoreIndexes',
  access: vectorStoreReader,
  run(scope: IndexScope, _input: undefined): readonly ShownIndex[] {
    const caller = callerOf(scope);
    const listed = scope.platform.vectorStoreIndexes.list().filter((one) => isIndexListedFor(caller, one));
    return listed.map((one) => visibleTo(caller, one));
  },
});

/** One index by its name. Throws NotFound, also for an index that the caller may not read. */
export const getVectorStoreIndex = operation({
  name: 'getVectorStoreIndex',
  access: vectorStoreReader,
  run(scope: IndexScope, { name }: { readonly name: string }): ShownIndex {
    const caller = callerOf(scope);
    const index = scope.platform.vectorStoreIndexes.named(name);
    if (index === null || !isIndexListedFor(caller, index)) throw unknownIndex(name);
    return visibleTo(caller, index);
  },
});

/**
 * Stores a name for a vector store of a provider. Nothing is created there. Throws Conflict when an index or a
 * registered store has the name. Throws InvalidInput, also where no registered store has the name of the account.
 */
export const createVectorStoreIndex = operation({
  name: 'createVectorStoreIndex',
  access: vectorStoreAdmin,
  async run(scope: IndexScope, draft: Omit<VectorStoreIndexDraft, 'id'>): Promise<ShownIndex> {
    const { vectorStores, vectorStoreIndexes, ids } = scope.platform;
    const index = newVectorStoreIndex({ ...draft, id: ids.uuid() }, authored(scope));
    if (vectorStores.find(index.name) !== null)
      throw new Conflict(`A registered vector store has the id ${index.name}. Choose another name for the index.`);
    if (!vectorStores.list().some(({ name }) => name === index.accountName))
      throw new InvalidInput(`No registered vector store has the name ${index.accountName}`);
    return await vectorStoreIndexes.add(index);
  },
});

/** Removes an index. The store stays at its provider. Throws NotFound. */
export const deleteVectorStoreIndex = operation({
  name: 'deleteVectorStoreIndex',
  access: vectorStoreAdmin,
  async run(scope: IndexScope, { name }: { readonly name: string }): Promise<ShownIndex> {
    const removed = await scope.platform.vectorStoreIndexes.remove(name);
    if (removed === null) throw unknownIndex(name);
    return removed;
  },
});

/** Applies changes of indexes by other processes. */
export const refreshVectorStoreIndexes = operation({
  name: 'refreshVectorStoreIndexes',
  access: system,
  run: ({ platform }: IndexScope): Promise<void> => platform.vectorStoreIndexes.refresh(),
});
