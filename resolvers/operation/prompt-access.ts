import { type Access, requireCaller, tenantAdmin, tenantViewer } from './access.ts';

/** Proxy administrators, for stored prompts. */
export const promptAdmin: Access = {
  name: 'promptAdmin',
  description: 'Proxy administrators.',
  check: tenantAdmin.check,
};

/** Proxy administrators with full or read-only access, for the templates of prompts. */
export const promptViewer: Access = {
  name: 'promptViewer',
  description: 'Proxy administrators with full or read-only access.',
  check: tenantViewer.check,
};

/** Every credential. The operation lists only prompts that the caller may see. */
export const promptLister: Access = {
  name: 'promptLister',
  description:
    'Every key, for the prompts in the list `prompts` of its metadata. Proxy administrators without such a list see all prompts.',
  check(caller) {
    requireCaller(caller);
  },
};
