import { type Caller, mayRead, type Owner, ownerOf, type Visibility, visibilityOf } from '../../src/domain/caller.ts';
import { limitedHashOf } from '../../src/domain/users/session.ts';

/** Owner of an object that an upstream stores. A session stores for the key that opened it, because it ends earlier. */
export const objectOwnerOf = (caller: Caller): Owner => ({ ...ownerOf(caller), keyHash: limitedHashOf(caller) });

/** The stored objects that a caller may see in lists. */
export function objectVisibilityOf(caller: Caller): Visibility {
  const visibility = visibilityOf(caller);
  return visibility.kind === 'key' ? { ...visibility, keyHash: limitedHashOf(caller) } : visibility;
}

/** Whether a caller may use a stored object. Rows from before may have the hash of a session. */
export const mayUseObject = (caller: Caller, owner: Owner): boolean =>
  mayRead(objectVisibilityOf(caller), owner) || mayRead(visibilityOf(caller), owner);
