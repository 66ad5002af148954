import { Forbidden } from '../../src/domain/errors.ts';
import { type Access, isReadOnly, requireCaller, tenantAdmin } from './access.ts';

/** Proxy administrators, for the registry of vector stores. */
export const vectorStoreAdmin: Access = {
  name: 'vectorStoreAdmin',
  description: 'Proxy administrators.',
  check: tenantAdmin.check,
};

/** Every credential that is not read-only. The operation checks the rights to the store. */
export const vectorStoreWriter: Access = {
  name: 'vectorStoreWriter',
  description:
    'Every key that is not read-only, for vector stores of its team and those without a team, within the list of the key. Only proxy administrators may use stores that are not registered.',
  check(caller) {
    if (isReadOnly(requireCaller(caller)))
      throw new Forbidden('Read-only keys cannot change vector stores.', 'internal_user');
  },
};

/** Every credential. The operation checks the rights to the store. */
export const vectorStoreReader: Access = {
  name: 'vectorStoreReader',
  description:
    'Every key, for vector stores of its team and those without a team, within the list of the key. Only proxy administrators may use stores that are not registered.',
  check(caller) {
    requireCaller(caller);
  },
};
