import { Unavailable } from '../../src/domain/errors.ts';
import type { PermissionTerms } from '../../src/domain/object-permissions/permission-layers.ts';
import { assertMayUseIndex, type IndexPermission } from '../../src/domain/vector-store-indexes/index-rights.ts';
import type { VectorStoreIndex } from '../../src/domain/vector-store-indexes/vector-store-index.ts';
import { assertMayUseStore } from '../../src/domain/vector-stores/store-rights.ts';
import type { VectorStore } from '../../src/domain/vector-stores/vector-store.ts';
import type { StoreNamingPlatform } from './object-rights-platform.ts';
import { callerOf } from './operation.ts';
import type { Scope } from './scope.ts';

/** A vector store that a request names by its id or by an index. */
export interface ResolvedStore {
  /** Registration with the account; null without one. */
  readonly store: VectorStore | null;
  /** Id of the store at its provider. */
  readonly storeId: string;
  /** The index that was named; null for an id. */
  readonly index: VectorStoreIndex | null;
}

/**
 * Whether a store is registered with an account, as only administrators do. Any key may create a store at the default
 * account, with any name.
 */
const hasOwnAccount = ({ isFromConfig, credentialName, params }: VectorStore): boolean =>
  isFromConfig || credentialName !== null || Object.keys(params).length > 0;

/** The store with an id, or of the index with this name. The id of a registered store takes precedence. */
export function resolvedStore(
  { platform: { vectorStores, vectorStoreIndexes } }: Scope<StoreNamingPlatform>,
  id: string,
): ResolvedStore {
  const store = vectorStores.find(id);
  const index = store === null ? vectorStoreIndexes.named(id) : null;
  if (index === null) return { store, storeId: id, index };
  const named = vectorStores.list().filter(({ name }) => name === index.accountName);
  const account = named.find(hasOwnAccount) ?? named[0];
  return { store: account === undefined ? null : vectorStores.find(account.id), storeId: index.storeId, index };
}

/**
 * Checks access to a store that a request names. An index needs the permission, and a registered account. Throws
 * Forbidden, NotFound for a store without registration, and Unavailable for an index without its account.
 */
export function assertMayUseResolved(
  scope: Scope<StoreNamingPlatform>,
  { store, storeId, index }: ResolvedStore,
  permission: IndexPermission,
  terms: PermissionTerms,
): void {
  const caller = callerOf(scope);
  if (index === null) return assertMayUseStore(caller, storeId, store, terms);
  assertMayUseIndex(caller, index, permission, terms);
  if (store === null)
    throw new Unavailable(`The vector store ${index.accountName} of the index ${index.name} is not registered.`, null);
}
