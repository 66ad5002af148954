import type { Caller } from '../src/domain/caller.ts';
import { isListedFor, assertMayUseStore, unknownStore } from '../src/domain/vector-stores/store-rights.ts';
import {
  FileOwnedStore,
  storeExists,
  type VectorStore,
  type VectorStoreDraft,
  type VectorStorePatch,
} from '../src/domain/vector-stores/vector-store.ts';
import { DEFAULT_USER_ID } from '../src/domain/users/user.ts';
import { nullIfBlank } from '../src/domain/optional-text.ts';
import { isAnyAdmin, system } from './operation/access.ts';
import { authored } from './operation/authored.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { Scope } from './operation/scope.ts';
import { vectorStoreAdmin, vectorStoreReader } from './operation/vector-store-access.ts';
import type { VectorStorePlatform } from './operation/vector-store-platform.ts';

type StoreScope = Scope<Pick<VectorStorePlatform, 'vectorStores' | 'clock'>>;

const storeOf = ({ platform }: StoreScope, id: string): VectorStore | undefined =>
  platform.vectorStores.list().find((one) => one.id === id);

/** The store as the caller sees it. Callers who are not administrators do not see its parameters. */
const visibleTo = (caller: Caller, store: VectorStore): VectorStore =>
  isAnyAdmin(caller) ? store : { ...store, params: {} };

/** Lists the registered stores that the caller sees: administrators all, other keys those of their team. */
export const listVectorStores = operation({
  name: 'listVectorStores',
  access: vectorStoreReader,
  run(scope: StoreScope, _input: undefined): readonly VectorStore[] {
    const caller = callerOf(scope);
    const listed = scope.platform.vectorStores.list().filter((one) => isListedFor(caller, one));
    return listed.map((one) => visibleTo(caller, one));
  },
});

/** One registered store by its id. Throws NotFound and Forbidden. */
export const getVectorStore = operation({
  name: 'getVectorStore',
  access: vectorStoreReader,
  run(scope: StoreScope, { id }: { readonly id: string }): VectorStore {
    const store = storeOf(scope, id);
    if (store === undefined) throw unknownStore(id);
    const caller = callerOf(scope);
    assertMayUseStore(caller, id, store);
    return visibleTo(caller, store);
  },
});

/**
 * Registers a store of a provider. Nothing is created there. Throws Conflict when its id is taken, and InvalidInput.
 */
export const createVectorStore = operation({
  name: 'createVectorStore',
  access: vectorStoreAdmin,
  async run(scope: StoreScope, draft: Omit<VectorStoreDraft, 'userId'>): Promise<VectorStore> {
    if (storeOf(scope, draft.id) !== undefined) throw storeExists(draft.id);
    const userId = nullIfBlank(callerOf(scope).userId) ?? DEFAULT_USER_ID;
    return await scope.platform.vectorStores.add({ ...draft, userId }, authored(scope));
  },
});

/** Throws FileOwnedStore for a store of the configuration file. */
function assertNotOfFile(scope: StoreScope, id: string): void {
  if (storeOf(scope, id)?.isFromConfig === true) throw new FileOwnedStore(id);
}

/** Changes the registration of a store. Throws NotFound, FileOwnedStore, Conflict and InvalidInput. */
export const updateVectorStore = operation({
  name: 'updateVectorStore',
  access: vectorStoreAdmin,
  async run(
    scope: StoreScope,
    { id, patch }: { readonly id: string; readonly patch: VectorStorePatch },
  ): Promise<VectorStore> {
    assertNotOfFile(scope, id);
    const changed = await scope.platform.vectorStores.change(id, patch, authored(scope));
    if (changed === null) throw unknownStore(id);
    return changed;
  },
});

/** Removes the registration of a store. The store stays at its provider. Throws NotFound and FileOwnedStore. */
export const deleteVectorStore = operation({
  name: 'deleteVectorStore',
  access: vectorStoreAdmin,
  async run(scope: StoreScope, { id }: { readonly id: string }): Promise<VectorStore> {
    assertNotOfFile(scope, id);
    const removed = await scope.platform.vectorStores.remove(id);
    if (removed === null) throw unknownStore(id);
    return removed;
  },
});

/** Applies changes of registered stores by other processes. */
export const refreshVectorStores = operation({
  name: 'refreshVectorStores',
  access: system,
  run: ({ platform }: StoreScope): Promise<void> => platform.vectorStores.refresh(),
});
