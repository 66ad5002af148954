import { type Access, tenantAdmin, tenantViewer } from './access.ts';

/** Proxy administrators, for policies of tools. */
export const toolAdmin: Access = {
  name: 'toolAdmin',
  description: 'Proxy administrators.',
  check: tenantAdmin.check,
};

/** Proxy administrators with full or read-only access, for tools and their policies. */
export const toolViewer: Access = {
  name: 'toolViewer',
  description: 'Proxy administrators with full or read-only access.',
  check: tenantViewer.check,
};
