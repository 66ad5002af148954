import type { Caller } from '../caller.ts';
import { Forbidden, NotFound } from '../errors.ts';
import { namesIn, type ObjectPermission } from '../object-permissions/object-permission.ts';
import {
  allLayers,
  type PermissionTerms,
  permissionLayersOf,
  WITHOUT_CUSTOMER,
} from '../object-permissions/permission-layers.ts';
import { nullIfBlank } from '../optional-text.ts';
import type { VectorStore } from './vector-store.ts';

export const unknownStore = (id: string): NotFound =>
  new NotFound('vector store', id, `Vector store with ID ${id} not found`);

/**
 * Whose list contains none of some names of a store; null where all lists contain one. The lists are those of the key,
 * its owners and the customer of the call. A list that is absent or empty contains every store.
 */
function listWithout(caller: Caller, ids: readonly string[], terms: PermissionTerms): 'key' | 'team' | 'owner' | null {
  const { key, team, ...others } = permissionLayersOf(caller, terms);
  const refuses = (permission: ObjectPermission | null): boolean =>
    permission !== null && namesIn(permission, 'vector_stores')?.some((id) => ids.includes(id)) === false;
  if (refuses(key)) return 'key';
  if (refuses(team)) return 'team';
  return allLayers({ key: null, team: null, ...others }).some(refuses) ? 'owner' : null;
}

/** Whether no list of the key, its owners and the customer refuses a store with these names. */
export const isInLists = (caller: Caller, ids: readonly string[], terms: PermissionTerms): boolean =>
  listWithout(caller, ids, terms) === null;

/** Whether a caller may read every vector store. */
export const seesAllStores = ({ role }: Caller): boolean => role === 'proxy_admin' || role === 'proxy_admin_viewer';

/**
 * Checks access to a store that a caller names. `store` is its registration, null without one. Throws Forbidden for a
 * store that a list of the key or its owners does not contain, or that belongs to another team. Throws NotFound for a
 * store without registration, unless the caller is a proxy administrator: callers share the account of the provider.
 */
export function assertMayUseStore(
  caller: Caller,
  id: string,
  store: VectorStore | null,
  terms: PermissionTerms = WITHOUT_CUSTOMER,
): void {
  assertListed(caller, [id], terms);
  if (seesAllStores(caller)) return;
  if (store === null) throw unknownStore(id);
  if (store.teamId !== null && store.teamId !== nullIfBlank(caller.teamId))
    throw new Forbidden(`The team of the key is not allowed to access the vector store ${id}.`, 'team_vector_store');
}

/** Throws Forbidden for a store that a list does not contain by one of its names. Errors have the first name. */
export function assertListed(caller: Caller, ids: readonly [string, ...string[]], terms: PermissionTerms): void {
  const [id] = ids;
  const refusing = listWithout(caller, ids, terms);
  if (refusing === 'key')
    throw new Forbidden(`The key is not allowed to access the vector store ${id}.`, 'key_vector_store');
  if (refusing === 'team')
    throw new Forbidden(`The team of the key is not allowed to access the vector store ${id}.`, 'team_vector_store');
  if (refusing === 'owner')
    throw new Forbidden(
      `The user, organization or customer of the call is not allowed to access the vector store ${id}.`,
      'owner_vector_store',
    );
}

/** Whether a list of the key, its owners or the customer names stores, so that it refuses all others. */
export const hasStoreLists = (caller: Caller, terms: PermissionTerms): boolean =>
  allLayers(permissionLayersOf(caller, terms)).some((permission) => namesIn(permission, 'vector_stores') !== null);

/**
 * Checks access to a store that a request for another API names. Unlike `assertMayUseStore`, it admits stores without
 * registration: the provider's account decides about them. Throws Forbidden.
 */
export function assertMayNameStore(
  caller: Caller,
  id: string,
  { store, terms }: { readonly store: VectorStore | null; readonly terms: PermissionTerms },
): void {
  if (store !== null) assertMayUseStore(caller, id, store, terms);
  else assertListed(caller, [id], terms);
}

/**
 * Checks the right to change or delete a store at its provider. Proxy administrators may change all, keys those of
 * their team, and users those that they registered. Throws Forbidden, and what `assertMayUseStore` throws.
 */
export function assertMayChangeStore(
  caller: Caller,
  id: string,
  store: VectorStore | null,
  terms: PermissionTerms = WITHOUT_CUSTOMER,
): void {
  assertMayUseStore(caller, id, store, terms);
  if (caller.role === 'proxy_admin') return;
  const userId = nullIfBlank(caller.userId);
  if (store !== null && (store.teamId !== null || (userId !== null && store.userId === userId))) return;
  throw new Forbidden(
    `Only proxy admins and the user that registered it can change the vector store ${id}.`,
    'key_vector_store',
  );
}

/**
 * Whether a list of stores shows a store. Administrators see all, other callers those of their team. A store without a
 * team can be used by its id only.
 */
export const isListedFor = (caller: Caller, { id, teamId }: VectorStore): boolean => {
  if (!isInLists(caller, [id], WITHOUT_CUSTOMER)) return false;
  return seesAllStores(caller) || (teamId !== null && teamId === nullIfBlank(caller.teamId));
};
