import type { IncomingHttpHeaders } from 'node:http';
import type { ChangeAuthor } from '../../../src/domain/audit-log/audit-entry.ts';
import type { Caller } from '../../../src/domain/caller.ts';
import { nullIfBlank } from '../../../src/domain/optional-text.ts';
import { DEFAULT_USER_ID } from '../../../src/domain/users/user.ts';

/** Maximum length, in characters, of a user name in the header. */
const MAX_NAME_LENGTH = 256;

/** Header with the user on whose behalf the caller acts, for the audit log. */
const CHANGED_BY = 'litellm-changed-by';

/**
 * Author of the changes of a request. `by` is the user that the header names, else `actor`: the user of the key, or the
 * hash of a key without a user. The admin key acts as the default user.
 */
export function changeAuthor({ key, keyHash, userId }: Caller, headers: IncomingHttpHeaders, at: Date): ChangeAuthor {
  const namedUser = nullIfBlank(
    headers[CHANGED_BY]
      ?.toString()
      .replaceAll(/\p{Cc}/gu, '')
      .slice(0, MAX_NAME_LENGTH) ?? null,
  );
  // Of the keys that send requests, only the admin key has no row: its `key` is null.
  const actor = nullIfBlank(userId) ?? (key === null ? DEFAULT_USER_ID : keyHash);
  return {
    by: namedUser ?? actor,
    actor,
    keyHash: key === null ? null : keyHash,
    at,
  };
}
