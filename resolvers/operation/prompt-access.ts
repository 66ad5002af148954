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

/** Every credential, for prompts that its key lists. */
export const promptLister: Access = {
  name: 'promptLister',
  description: 'Every key, for the prompts in its list `prompts`. Proxy administrators see all.',
  check(caller) {
    requireCaller(caller);
  },
};
