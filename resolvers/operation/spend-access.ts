import type { Caller } from '../../src/domain/caller.ts';
import { Forbidden } from '../../src/domain/errors.ts';
import { nullIfBlank } from '../../src/domain/optional-text.ts';
import { type Access, isAdmin, isAnyAdmin, requireCaller, refuseManagement } from './access.ts';

/** Whether a caller sees the calls of everyone: an administrator, or a key with the permission `get_spend_routes`. */
export const seesAllSpend = (caller: Caller): boolean =>
  isAnyAdmin(caller) || caller.key?.settings.permissions?.['get_spend_routes'] === true;

/** Callers that see all spend; keys of a user for the calls of that user. */
export const spendReader: Access = {
  name: 'spendReader',
  description:
    'Proxy administrators with full or read-only access, and keys with the permission `get_spend_routes`, for all calls. Keys of a user for the calls of that user.',
  check(caller) {
    const present = requireCaller(caller);
    if (!seesAllSpend(present) && nullIfBlank(present.userId) === null) throw refuseManagement(present);
  },
};

/** Any credential. The operation checks access to the entity whose calls it shows. */
export const activityReader: Access = {
  name: 'activityReader',
  description:
    'Proxy administrators with full or read-only access, for all calls. Keys of a user for the calls of that user, and of teams and organizations that the user administers.',
  check(caller) {
    requireCaller(caller);
  },
};

/** Callers that see all spend. */
export const spendAdmin: Access = {
  name: 'spendAdmin',
  description: 'Proxy administrators with full or read-only access, and keys with the permission `get_spend_routes`.',
  check(caller) {
    if (!seesAllSpend(requireCaller(caller))) throw refuseManagement(requireCaller(caller));
  },
};

/** Proxy administrators with full access. Other callers get the HTTP error body of an invalid credential. */
export const spendResetter: Access = {
  name: 'spendResetter',
  description: 'Proxy administrators.',
  check(caller) {
    if (!isAdmin(requireCaller(caller))) throw new Forbidden('Only proxy admins can reset spend.', 'proxy_admin');
  },
};
