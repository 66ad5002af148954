import { admittingGroups, type VirtualKey } from '../domain/keys/virtual-key.ts';
import { filteredRouter } from './filtered-router.ts';
import type { Router } from './route.ts';

/**
 * A router for a key: a key that may call a model by an access group alone gets only the deployments of that group. It
 * does not check whether the key may call the model at all.
 */
export function permittedFor(routeOf: Router, key: VirtualKey | null): Router {
  if (key?.accessGroupsOf === undefined) return routeOf;
  return filteredRouter(routeOf, (model) => {
    const lists = admittingGroups(key, model);
    if (lists.length === 0) return null;
    return ({ deployment: { accessGroups = [] } }) =>
      lists.every((groups) => groups.some((group) => accessGroups.includes(group)));
  });
}
