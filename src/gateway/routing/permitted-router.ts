import { admittingGroups, type VirtualKey } from '../../domain/keys/virtual-key.ts';
import { filteredRouter } from './filtered-router.ts';
import type { Router, TeamRouter } from './route.ts';

/** The router of the names and ids of a key's team, or of all. */
export const routerOfTeam = (router: TeamRouter, key: VirtualKey | null): Router =>
  key === null ? router : (router.forTeam(key.teamId) ?? router);

/**
 * A router for a key: a name selects a model of its team before a common one. A key that may call a model by an access
 * group alone gets only the deployments of that group. It does not check whether the key may call the model at all.
 */
export function permittedFor(router: TeamRouter, key: VirtualKey | null): Router {
  const routeOf = routerOfTeam(router, key);
  if (key?.accessGroupsOf === undefined) return routeOf;
  return filteredRouter(routeOf, (model) => {
    const lists = admittingGroups(key, model);
    if (lists.length === 0) return null;
    return ({ deployment: { accessGroups = [] } }) =>
      lists.every((groups) => groups.some((group) => accessGroups.includes(group)));
  });
}
