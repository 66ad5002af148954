import type { Caller } from '../../src/domain/caller.ts';
import type { Authored } from '../../src/domain/row-store.ts';
import { SystemCaller } from '../../src/domain/system-caller.ts';
import { DEFAULT_USER_ID } from '../../src/domain/users/user.ts';
import { callerOf } from './operation.ts';
import type { Scope } from './scope.ts';

/**
 * Author of a change of a virtual key: the hash of the caller's virtual key. For the admin key it is the default user,
 * and for background work the name of the task.
 */
export const keyAuthor = (caller: Caller): string =>
  caller.key === null && !(caller instanceof SystemCaller) ? DEFAULT_USER_ID : caller.keyHash;

/**
 * Time and author of a change. The author is the id of the caller's user. Without a user it is the hash of the caller's
 * virtual key. Without a virtual key, as for the admin key and background work, it is the default user.
 */
export function authored(scope: Scope<{ readonly clock: { now(): Date } }>): Authored {
  const { key, keyHash, userId } = callerOf(scope);
  return { now: scope.platform.clock.now(), by: userId ?? (key === null ? DEFAULT_USER_ID : keyHash) };
}
