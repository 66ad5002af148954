import type { Caller } from '../../src/domain/caller.ts';
import { Forbidden, Unauthenticated } from '../../src/domain/errors.ts';

/** Who may run an operation: a named rule, so that the table of rights can be listed, printed and tested. */
export interface Access {
  readonly name: string;
  /** Said in the documentation and in the table of operations. */
  readonly description: string;
  /** Throws Forbidden when this caller may not, Unauthenticated when a null caller, who sent no credential, must send one. */
  readonly check: (caller: Caller | null) => void;
}

const isAdmin = (caller: Caller): boolean => caller.role === 'proxy_admin';
/** Whether a caller sees everything: a proxy administrator, read-only ones too. */
export const isAnyAdmin = (caller: Caller): boolean => isAdmin(caller) || caller.role === 'proxy_admin_viewer';

/** Whoever sent no credential is not refused for who they are: they are asked for one. */
function known(caller: Caller | null): Caller {
  if (caller !== null) return caller;
  throw new Unauthenticated('A key is needed: send it as `Authorization: Bearer sk-...`.', 'missing');
}

/** Open to everyone, credential or not. */
export const anyone: Access = { name: 'anyone', description: 'Everyone, without a credential.', check: () => {} };

/** Every credential that holds. */
export const anyKey: Access = {
  name: 'anyKey',
  description: 'Every virtual key and the admin key.',
  check(caller) {
    known(caller);
  },
};

/** Every credential; the list of keys is filtered by what the caller may see. */
export const keyReader: Access = {
  name: 'keyReader',
  description: 'Every key, for the keys it may see: admins all, others their own and those of their user.',
  check(caller) {
    known(caller);
  },
};

/** Proxy administrators, not the read-only ones. */
export const admin: Access = {
  name: 'admin',
  description: 'Proxy administrators.',
  check(caller) {
    if (!isAdmin(known(caller))) throw new Forbidden('Only proxy admins can do this.', 'proxy_admin');
  },
};

/** Proxy administrators, the read-only ones too. */
export const anyAdmin: Access = {
  name: 'anyAdmin',
  description: 'Proxy administrators, read-only ones too.',
  check(caller) {
    if (!isAnyAdmin(known(caller))) throw new Forbidden('Only proxy admins can see this.', 'proxy_admin_viewer');
  },
};

/** Every credential; which rows it sees is the store's filter (visibility). */
export const traceReader: Access = {
  name: 'traceReader',
  description: 'Every key, for the traces it may see: admins all, team keys their team, other keys their own.',
  check(caller) {
    known(caller);
  },
};

/** Every credential but a read-only administrator's. */
export const traceWriter: Access = {
  name: 'traceWriter',
  description: 'Every key except read-only administrators.',
  check(caller) {
    const { role } = known(caller);
    if (role === 'proxy_admin_viewer')
      throw new Forbidden('Read-only administrators cannot ingest traces.', 'proxy_admin');
  },
};

/** Every credential that may write; what it may take out is its own, an administrator's everything. */
export const traceEraser: Access = {
  name: 'traceEraser',
  description: 'Every key that is not read-only, for the traces it sent itself; proxy administrators for all.',
  check(caller) {
    const { role } = known(caller);
    if (role === 'proxy_admin_viewer' || role === 'internal_user_viewer')
      throw new Forbidden('Read-only keys cannot remove or redact traces.', 'proxy_admin');
  },
};

/** Every credential; which files and batches it sees is the visibility of their owners. */
export const objectReader: Access = {
  name: 'objectReader',
  description:
    'Every key, for the files, batches and responses it may see: admins all, team keys their team, other keys their own.',
  check(caller) {
    known(caller);
  },
};

/** Every credential that is not read-only. */
export const objectWriter: Access = {
  name: 'objectWriter',
  description: 'Every key that is not read-only, for the files, batches and responses it may see.',
  check(caller) {
    const { role } = known(caller);
    if (role === 'proxy_admin_viewer')
      throw new Forbidden('Read-only administrators cannot change files, batches and responses.', 'proxy_admin');
    if (role === 'internal_user_viewer')
      throw new Forbidden('Read-only keys cannot change files, batches and responses.', 'internal_user');
  },
};
