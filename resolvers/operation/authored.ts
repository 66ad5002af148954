import type { Authored } from '../../src/domain/row-store.ts';
import { DEFAULT_USER_ID } from '../../src/domain/users/user.ts';
import { callerOf } from './operation.ts';
import type { Scope } from './scope.ts';

/**
 * Time and author of a change. The author is the id of the caller's user. Without a user it is the hash of the caller's
 * virtual key. Without a virtual key, as for the admin key and background work, it is the default user.
 */
export function authored(scope: Scope<{ readonly clock: { now(): Date } }>): Authored {
  const { key, keyHash, userId } = callerOf(scope);
  return { now: scope.platform.clock.now(), by: userId ?? (key === null ? DEFAULT_USER_ID : keyHash) };
}
