import { Forbidden } from '../../src/domain/errors.ts';
import { type Access, isReadOnly, requireCaller } from './access.ts';

/** Every credential. The operation finds only entries that the caller may read. */
export const memoryReader: Access = {
  name: 'memoryReader',
  description:
    'Every key, for the entries of its user, and for the entries of its team that have no user. Administrators see all entries.',
  check(caller) {
    requireCaller(caller);
  },
};

/** Every credential that is not read-only. */
export const memoryWriter: Access = {
  name: 'memoryWriter',
  description:
    'Every key that is not read-only, for the entries of its user, and for the entries of its team that have no user. Proxy administrators may change all entries.',
  check(caller) {
    if (isReadOnly(requireCaller(caller))) throw new Forbidden('Read-only keys cannot change memory.', 'internal_user');
  },
};
