import type { Caller } from '../caller.ts';
import { Forbidden } from '../errors.ts';
import { isJsonObject } from '../json-object.ts';
import { type PermissionTerms, WITHOUT_CUSTOMER } from '../object-permissions/permission-layers.ts';
import { assertListed, isInLists, seesAllStores } from '../vector-stores/store-rights.ts';
import type { VectorStoreIndex } from './vector-store-index.ts';

/** What a key may do with the store of an index: search and read it, or change its files. */
export type IndexPermission = 'read' | 'write';

const MEMBER = 'allowed_vector_store_indexes';

function permits(metadata: unknown, name: string, permission: IndexPermission): boolean {
  const allowed: unknown = isJsonObject(metadata) ? metadata[MEMBER] : undefined;
  if (!Array.isArray(allowed)) return false;
  return allowed.some((one: unknown) => {
    if (!isJsonObject(one) || one['index_name'] !== name) return false;
    const { index_permissions: permissions } = one;
    return Array.isArray(permissions) && permissions.includes(permission);
  });
}

/** Whether the metadata of the key or of its team permits an index. Proxy administrators set this metadata. */
const isGranted = ({ key }: Caller, name: string, permission: IndexPermission): boolean =>
  key !== null && (permits(key.metadata, name, permission) || permits(key.owners?.team?.metadata, name, permission));

/** Whether a caller needs no grant: administrators, and for reading also those that may only read. */
const isUnrestricted = (caller: Caller, permission: IndexPermission): boolean =>
  permission === 'read' ? seesAllStores(caller) : caller.role === 'proxy_admin';

/**
 * Checks access to an index. Proxy administrators may use all; other keys need the permission in their metadata or that
 * of their team. Lists of vector stores of the key and its owners must have the index or its store. Throws Forbidden.
 */
export function assertMayUseIndex(
  caller: Caller,
  { name, storeId }: VectorStoreIndex,
  permission: IndexPermission,
  terms: PermissionTerms = WITHOUT_CUSTOMER,
): void {
  assertListed(caller, [name, storeId], terms);
  if (isUnrestricted(caller, permission) || isGranted(caller, name, permission)) return;
  throw new Forbidden(
    `The key is not allowed to ${permission} the index ${name}. Add it to \`${MEMBER}\` of the key or its team.`,
    'key_vector_store',
  );
}

/** Whether `assertMayUseIndex` admits a caller. */
export const mayUseIndex = (
  caller: Caller,
  { name, storeId }: VectorStoreIndex,
  permission: IndexPermission,
  terms: PermissionTerms,
): boolean =>
  isInLists(caller, [name, storeId], terms) &&
  (isUnrestricted(caller, permission) || isGranted(caller, name, permission));

/** Whether a list of indexes shows an index: administrators see all, other callers those that they may read. */
export const isIndexListedFor = (caller: Caller, index: VectorStoreIndex): boolean =>
  mayUseIndex(caller, index, 'read', WITHOUT_CUSTOMER);
