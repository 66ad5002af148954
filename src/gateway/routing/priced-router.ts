import type { CatalogSnapshot } from '../../domain/catalog/catalog.ts';
import type { Deployment } from '../../domain/chat/provider.ts';
import { entryFor } from '../../domain/deployments/priced-by.ts';
import { isPriceField } from '../../domain/deployments/price-fields.ts';
import { Forbidden } from '../../domain/errors.ts';
import { filteredRouter, type Route, type Router, type TeamRouter } from './route.ts';

/** Whether a deployment has any price: of its own, or in the catalog. A price of 0 is one. */
export function isPriced(deployment: Deployment, catalog: CatalogSnapshot): boolean {
  const row = { ...entryFor(deployment, catalog)?.row, ...deployment.priceOverrides };
  return Object.entries(row).some(([name, value]) => isPriceField(name) && value !== null && value !== undefined);
}

/**
 * A router without the deployments that have no price, while `isOn`. Throws Forbidden for a model of which no deployment
 * has one; it has no route among `all`.
 */
export function pricedOnly(
  routeOf: TeamRouter,
  { isOn, catalog }: { readonly isOn: () => boolean; readonly catalog: () => CatalogSnapshot },
): TeamRouter {
  const made = new WeakMap<Router, Router>();
  const known = new WeakMap<Deployment, { readonly of: CatalogSnapshot; readonly priced: boolean }>();

  function hasPrice({ deployment }: Route): boolean {
    const current = catalog();
    let found = known.get(deployment);
    if (found?.of !== current) {
      found = { of: current, priced: isPriced(deployment, current) };
      known.set(deployment, found);
    }
    return found.priced;
  }

  function priced(router: Router): Router {
    const filtered = filteredRouter(router, () => (isOn() ? hasPrice : null));
    const select = (model: string, deploymentId?: string): Route | null => {
      if (!isOn()) return router(model, deploymentId);
      const found = filtered(model, deploymentId);
      const isUnpriced = found === null && router.all(model).length > 0 && filtered.all(model).length === 0;
      if (isUnpriced) throw unpriced(model);
      return found;
    };
    return Object.assign(select, { all: filtered.all, byId: filtered.byId });
  }

  const ofTeam = (teamId: string | null): Router | null => {
    const own = routeOf.forTeam(teamId);
    if (own === null) return null;
    const router = made.get(own) ?? priced(own);
    made.set(own, router);
    return router;
  };
  return Object.assign(priced(routeOf), { forTeam: ofTeam });
}

export const unpriced = (model: string): Forbidden =>
  new Forbidden(`The model ${model} has no price. Calls of models without a price are blocked.`, 'model_blocked');
