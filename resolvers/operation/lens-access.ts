import { Forbidden } from '../../src/domain/errors.ts';
import { LensWorkerCaller } from '../../src/domain/lens/worker-caller.ts';
import { type Access, isAdmin, isAnyAdmin, isReadOnly, requireCaller } from './access.ts';

export const feedbackWriter: Access = {
  name: 'feedbackWriter',
  description: 'Every key that is not read-only, for feedback about the traces it may see.',
  check(caller) {
    if (isReadOnly(requireCaller(caller))) throw new Forbidden('Admin viewers cannot write feedback');
  },
};

export const lensReader: Access = {
  name: 'lensReader',
  description: 'Proxy administrators with full or read-only access.',
  check(caller) {
    if (!isAnyAdmin(requireCaller(caller))) throw new Forbidden('Lens requires proxy administrator access');
  },
};

export const lensAdmin: Access = {
  name: 'lensAdmin',
  description: 'Proxy administrators with full access.',
  check(caller) {
    if (!isAdmin(requireCaller(caller))) throw new Forbidden('Only proxy admins can configure or run Lens');
  },
};

/** Workers authenticate by their token. No key has this right. */
export const lensWorker: Access = {
  name: 'lensWorker',
  description: 'Registered workers of lens runs, for the runs that they hold.',
  check(caller) {
    if (!(requireCaller(caller) instanceof LensWorkerCaller))
      throw new Forbidden('Only workers of lens runs can do this.');
  },
};
