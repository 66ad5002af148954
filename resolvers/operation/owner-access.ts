import type { Caller } from '../../src/domain/caller.ts';
import { Forbidden } from '../../src/domain/errors.ts';
import { nullIfBlank } from '../../src/domain/optional-text.ts';
import { type Access, isAdminOrUser, isAnyAdmin, requireCaller, refuseManagement, tenantViewer } from './access.ts';

/** Proxy administrators with full or read-only access, and keys with a user, for lists of keys. */
export const keyLister: Access = {
  name: 'keyLister',
  description:
    'Proxy administrators with full or read-only access, for all keys. Keys of a user for the keys of that user and of teams whose keys the user may list.',
  check(caller) {
    const present = requireCaller(caller);
    if (!isAnyAdmin(present) && nullIfBlank(present.userId) === null)
      throw new Forbidden("No 'user_id' is associated with your API key.", 'key_list');
  },
};

/** Error for a caller who may not manage the members of a team. */
export function refuseMembers(caller: Caller): Forbidden {
  if (caller.role === 'proxy_admin_viewer') return refuseManagement(caller);
  return new Forbidden('Call not allowed. User not proxy admin OR team admin.', 'team_members', {
    hasWordsOfReference: true,
  });
}

/** As `teamManager`, and for users who join an available team. A refusal has another HTTP error body. */
export const memberManager: Access = {
  name: 'memberManager',
  description:
    'Proxy administrators; keys of users for the teams and organizations that the user administers, and to join an available team.',
  check(caller) {
    if (!isAdminOrUser(requireCaller(caller))) throw refuseMembers(requireCaller(caller));
  },
};

/** As `tenantViewer`. The refusal of a user has another HTTP error body. */
export const userLister: Access = {
  ...tenantViewer,
  name: 'userLister',
  check(caller) {
    const present = requireCaller(caller);
    if (isAnyAdmin(present)) return;
    if (present.role === 'internal_user' && nullIfBlank(present.userId) !== null)
      throw new Forbidden('Only proxy admins can list users.', 'user_list');
    throw refuseManagement(present);
  },
};
