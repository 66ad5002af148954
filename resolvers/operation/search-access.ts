import { type Access, requireCaller, tenantAdmin, tenantViewer } from './access.ts';

/** Proxy administrators, for search tools. */
export const searchToolAdmin: Access = {
  name: 'searchToolAdmin',
  description: 'Proxy administrators.',
  check: tenantAdmin.check,
};

/** Proxy administrators with full or read-only access, for search tools. */
export const searchToolViewer: Access = {
  name: 'searchToolViewer',
  description: 'Proxy administrators with full or read-only access.',
  check: tenantViewer.check,
};

/** Every credential. The operation checks the rights to the tool. */
export const searcher: Access = {
  name: 'searcher',
  description: 'Every key, for the search tools in the list of the key; for all where it has no list.',
  check(caller) {
    requireCaller(caller);
  },
};
