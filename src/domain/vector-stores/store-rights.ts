import type { Caller } from '../caller.ts';
import { Forbidden, NotFound } from '../errors.ts';
import { nullIfBlank } from '../optional-text.ts';
import type { VectorStore } from './vector-store.ts';

export const unknownStore = (id: string): NotFound =>
  new NotFound('vector store', id, `Vector store with ID ${id} not found`);

/** Ids of stores in `object_permission.vector_stores` of the caller's key; null when the key has no such list. */
function allowedStoresOf({ key }: Caller): readonly string[] | null {
  const listed = key?.settings.objectPermission?.['vector_stores'];
  if (!Array.isArray(listed) || listed.length === 0) return null;
  return listed.filter((id): id is string => typeof id === 'string');
}

const seesAll = ({ role }: Caller): boolean => role === 'proxy_admin' || role === 'proxy_admin_viewer';

/**
 * Checks access to a store that a caller names. `store` is its registration, null without one. Throws Forbidden for a
 * store that the list of the key does not contain, or that belongs to another team. Throws NotFound for a store without
 * registration, unless the caller is a proxy administrator: callers share the account of the provider.
 */
export function assertMayUseStore(caller: Caller, id: string, store: VectorStore | null): void {
  const allowed = allowedStoresOf(caller);
  if (allowed !== null && !allowed.includes(id))
    throw new Forbidden(`The key is not allowed to access the vector store ${id}.`, 'key_vector_store');
  if (seesAll(caller)) return;
  if (store === null) throw unknownStore(id);
  if (store.teamId !== null && store.teamId !== nullIfBlank(caller.teamId))
    throw new Forbidden(`The team of the key is not allowed to access the vector store ${id}.`, 'team_vector_store');
}

/**
 * Checks the right to change or delete a store at its provider. Proxy administrators may change all, keys those of
 * their team, and users those that they registered. Throws Forbidden, and what `assertMayUseStore` throws.
 */
export function assertMayChangeStore(caller: Caller, id: string, store: VectorStore | null): void {
  assertMayUseStore(caller, id, store);
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
  const allowed = allowedStoresOf(caller);
  if (allowed !== null && !allowed.includes(id)) return false;
  return seesAll(caller) || (teamId !== null && teamId === nullIfBlank(caller.teamId));
};
