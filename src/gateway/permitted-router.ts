import { admittingGroups, type VirtualKey } from '../domain/keys/virtual-key.ts';
import type { Route, Router } from './route.ts';

/**
 * A router for a key: a key that may call a model by an access group alone gets only the deployments of that group. It
 * does not check whether the key may call the model at all.
 */
export function permittedFor(routeOf: Router, key: VirtualKey | null): Router {
  if (key?.accessGroupsOf === undefined) return routeOf;
  const permits = (model: string): ((route: Route) => boolean) | null => {
    const lists = admittingGroups(key, model);
    if (lists.length === 0) return null;
    return ({ deployment: { accessGroups = [] } }) =>
      lists.every((groups) => groups.some((group) => accessGroups.includes(group)));
  };
  const all = (model: string): readonly Route[] => {
    const permitted = permits(model);
    return permitted === null ? routeOf.all(model) : routeOf.all(model).filter(permitted);
  };
  const select = (model: string, deploymentId?: string): Route | null => {
    const permitted = permits(model);
    let found = routeOf(model, deploymentId);
    if (permitted === null || found === null || permitted(found)) return found;
    if (deploymentId !== undefined) return null;
    const turns = routeOf.all(model).length;
    for (let turn = 1; turn < turns; turn += 1) {
      found = routeOf(model);
      if (found !== null && permitted(found)) return found;
    }
    return all(model)[0] ?? null;
  };
  const byId = (id: string): Route | null => {
    const found = routeOf.byId(id);
    if (found === null) return null;
    return (permits(found.deployment.modelGroup)?.(found) ?? true) ? found : null;
  };
  return Object.assign(select, { all, byId });
}
