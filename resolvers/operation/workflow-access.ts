import { Forbidden } from '../../src/domain/errors.ts';
import { type Access, isReadOnly, requireCaller } from './access.ts';

/** Every credential. The operation finds only runs that the caller may read. */
export const workflowReader: Access = {
  name: 'workflowReader',
  description: 'Every key, for the runs that it created. Administrators see all runs.',
  check(caller) {
    requireCaller(caller);
  },
};

/** Every credential that is not read-only. */
export const workflowWriter: Access = {
  name: 'workflowWriter',
  description:
    'Every key that is not read-only, for the runs that it created. Proxy administrators may change all runs.',
  check(caller) {
    if (isReadOnly(requireCaller(caller)))
      throw new Forbidden('Read-only keys cannot change workflow runs.', 'internal_user');
  },
};
