import type { Caller } from '../src/domain/caller.ts';
import { Forbidden } from '../src/domain/errors.ts';

/** Who may run an operation: a named rule, so that the table of rights can be listed, printed and tested. */
export interface Access {
  readonly name: string;
  /** Said in the documentation and in the table of operations. */
  readonly description: string;
  /** Throws Forbidden when this caller may not. A null caller sent no credential. */
  readonly check: (caller: Caller | null) => void;
}

const isAdmin = (caller: Caller | null): boolean => caller?.role === 'proxy_admin';
const isAnyAdmin = (caller: Caller | null): boolean => isAdmin(caller) || caller?.role === 'proxy_admin_viewer';

/** Open to everyone, credential or not. */
export const anyone: Access = { name: 'anyone', description: 'Everyone, without a credential.', check: () => {} };

/** Every credential that holds. */
export const anyKey: Access = {
  name: 'anyKey',
  description: 'Every virtual key and the admin key.',
  check(caller) {
    if (caller === null) throw new Forbidden('A key is needed.');
  },
};

/** Proxy administrators, not the read-only ones. */
export const admin: Access = {
  name: 'admin',
  description: 'Proxy administrators.',
  check(caller) {
    if (!isAdmin(caller)) throw new Forbidden('Only proxy admins can do this.', 'proxy_admin');
  },
};

/** Proxy administrators, the read-only ones too. */
export const anyAdmin: Access = {
  name: 'anyAdmin',
  description: 'Proxy administrators, read-only ones too.',
  check(caller) {
    if (!isAnyAdmin(caller)) throw new Forbidden('Only proxy admins can see this.', 'proxy_admin_viewer');
  },
};

/** Every credential; which rows it sees is the store's filter (visibility). */
export const traceReader: Access = {
  name: 'traceReader',
  description: 'Every key, for the traces it may see: admins all, team keys their team, other keys their own.',
  check(caller) {
    if (caller === null) throw new Forbidden('You may not view traces.');
  },
};

/** Every credential but a read-only administrator's. */
export const traceWriter: Access = {
  name: 'traceWriter',
  description: 'Every key except read-only administrators.',
  check(caller) {
    if (caller === null || (isAnyAdmin(caller) && !isAdmin(caller)))
      throw new Forbidden('Read-only administrators cannot ingest traces.', 'proxy_admin');
  },
};
