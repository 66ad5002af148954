import type { IncomingHttpHeaders } from 'node:http';
import type { ChangeAuthor } from '../../../src/domain/audit-log/audit-entry.ts';
import type { Caller } from '../../../src/domain/caller.ts';
import { idOrNull } from '../../../src/domain/optional-id.ts';
import { DEFAULT_USER_ID } from '../../../src/domain/users/user.ts';

/** Most characters of a name that a client gives. */
const MOST_NAME = 256;

/** Header with the user that the caller acts for, for the audit log. */
const CHANGED_BY = 'litellm-changed-by';

/**
 * Author of the changes of a request. The caller may name another user that it acts for; its own user and key are
 * recorded in any case. The admin key acts as the default user.
 */
export function changeAuthor({ key, keyHash, userId }: Caller, headers: IncomingHttpHeaders, at: Date): ChangeAuthor {
  const named = idOrNull(
    headers[CHANGED_BY]
      ?.toString()
      .replaceAll(/\p{Cc}/gu, '')
      .slice(0, MOST_NAME) ?? null,
  );
  const actor = idOrNull(userId) ?? (key === null ? DEFAULT_USER_ID : keyHash);
  return {
    by: named ?? actor,
    actor,
    keyHash: key === null ? null : keyHash,
    at,
  };
}
