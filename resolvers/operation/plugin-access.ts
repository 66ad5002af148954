import { Forbidden } from '../../src/domain/errors.ts';
import { type Access, isAdmin, isAnyAdmin, requireCaller } from './access.ts';

/** Proxy administrators, for plugins. */
export const pluginAdmin: Access = {
  name: 'pluginAdmin',
  description: 'Proxy administrators.',
  check(caller) {
    if (!isAdmin(requireCaller(caller))) throw new Forbidden('Only proxy admins can change plugins.', 'plugin_admin');
  },
};

/** Proxy administrators with full or read-only access, for plugins. */
export const pluginViewer: Access = {
  name: 'pluginViewer',
  description: 'Proxy administrators with full or read-only access.',
  check(caller) {
    if (!isAnyAdmin(requireCaller(caller)))
      throw new Forbidden('Only proxy admins can see the list of all plugins.', 'plugin_admin');
  },
};
