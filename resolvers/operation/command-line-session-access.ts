import { type Access, requireCaller } from './access.ts';

/** Every credential. The operation finds only sessions that the caller may see. */
export const commandLineSessionReader: Access = {
  name: 'commandLineSessionReader',
  description: 'Every key, for the command line sessions of its user. Administrators see all sessions.',
  check(caller) {
    requireCaller(caller);
  },
};

/** Every credential, also a read-only one: ending a session only removes rights of its user. */
export const commandLineSessionEnder: Access = {
  name: 'commandLineSessionEnder',
  description: 'Every key, for the command line sessions of its user. Proxy administrators may end all sessions.',
  check(caller) {
    requireCaller(caller);
  },
};
