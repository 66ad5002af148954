import type { Route, Router } from './route.ts';

/**
 * A router with the routes of each model that `permits` allows. The order of selection stays: a selected route that is
 * not allowed is skipped. `permits` answers null for a model whose routes are all allowed.
 */
export function filteredRouter(
  routeOf: Router,
  permits: (model: string) => ((route: Route) => boolean) | null,
): Router {
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
