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

/** Every credential. The operation checks the right to the search tool. */
export const searcher: Access = {
  name: 'searcher',
  description:
    'Every key, for the search tools in the list `search_tools` of the key and of each owner of the key. An absent list allows all tools.',
  check(caller) {
    requireCaller(caller);
  },
};
