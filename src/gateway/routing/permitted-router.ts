import type { Deployment } from '../../domain/chat/provider.ts';
import type { Region } from '../../domain/customers/customer.ts';
import { Forbidden } from '../../domain/errors.ts';
import { admittingGroups, namesAllowing, type VirtualKey } from '../../domain/keys/virtual-key.ts';
import { hasPricesBySize } from '../accounting/image-price.ts';
import type { LabelBudget } from '../admission/label-budgets.ts';
import { filteredRouter, type Route, type Router, type TeamRouter } from './route.ts';
import type { CatalogSnapshot } from '../../domain/catalog/catalog.ts';
import { pricedRow } from '../../domain/deployments/priced-row.ts';
import { isPriceField } from '../../domain/deployments/price-fields.ts';

/** The router for the team of a key; without a key, the router itself. */
export const routerOfTeam = (router: TeamRouter, key: VirtualKey | null): Router =>
  key === null ? router : (router.forTeam(key.teamId) ?? router);

/**
 * A router for a key: a name selects a model of its team before a common one. Some model lists of a key may admit a
 * model only by access groups. Then it gets only the deployments that have such a group of each of these lists. The
 * router does not check whether the key may call the model.
 */
export function permittedFor(router: TeamRouter, key: VirtualKey | null): Router {
  const routeOf = routerOfTeam(router, key);
  if (key?.accessGroupsOf === undefined) return routeOf;
  const known = permittedRouters.get(key);
  if (known?.source === routeOf) return known.router;
  const permitted = filteredRouter(routeOf, (model) => {
    const lists = admittingGroups(key, model);
    if (lists.length === 0) return null;
    // A list that allows the model of an alias by its name admits all deployments of the model.
    const target = key.targetOf?.(model) ?? model;
    const names = target === model ? [] : namesAllowing(target);
    const limiting = lists.filter((groups) => !groups.some((group) => names.includes(group)));
    if (limiting.length === 0) return null;
    return ({ deployment: { accessGroups = [] } }) =>
      limiting.every((groups) => groups.some((group) => accessGroups.includes(group)));
  });
  permittedRouters.set(key, { source: routeOf, router: permitted });
  return permitted;
}

/** Cached filtered router of each key, and the router that it filters. */
const permittedRouters = new WeakMap<VirtualKey, { readonly source: Router; readonly router: Router }>();

/** Region of the calls of a customer, and the model that replaces one without a deployment in the region. */
export type CustomerRegion = NonNullable<LabelBudget['customerRegion']>;

const REGIONS: readonly (readonly [Region, RegExp])[] = [
  ['eu', /^(eu|europe)(-|$)/],
  ['us', /^us(-|$)/],
];

/** The region of a deployment, by its settings or its address; null where neither names one. */
function regionOf({ options, apiBase }: Pick<Deployment, 'options' | 'apiBase'>): Region | null {
  // The first dot is replaced, so that `eu.example.com` has the form of a region name, such as `eu-west-1`.
  const host = URL.parse(apiBase ?? '')?.hostname.replace('.', '-');
  const named = options['region_name'] ?? options['aws_region_name'] ?? options['vertex_location'] ?? host ?? '';
  return REGIONS.find(([, form]) => form.test(named))?.[0] ?? null;
}

/** Whether a deployment processes its calls in a region. A router selects among the deployments of other models. */
export const isInRegion = (deployment: Deployment, region: Region): boolean =>
  deployment.autoRouter !== undefined || regionOf(deployment) === region;

/** A router with the deployments of one region only; the router itself without a region. */
export function inRegion(routeOf: Router, region: Region | undefined): Router {
  if (region === undefined) return routeOf;
  const isPermitted = ({ deployment }: Route): boolean => isInRegion(deployment, region);
  return filteredRouter(routeOf, () => isPermitted);
}

/** The region of the customer of a call; null for no restriction. */
export const customerRegionOf = (labels: readonly LabelBudget[]): CustomerRegion | null =>
  labels.find(({ customerRegion }) => customerRegion !== undefined)?.customerRegion ?? null;

export const noDeploymentInRegion = (model: string, region: Region): Forbidden =>
  new Forbidden(
    `No deployment of the model ${model} is in the region ${region}, which the customer's calls may not leave.`,
  );

/** Whether a deployment has any price, in the configuration or in the catalog. A price of zero counts. */
export function isPriced(deployment: Deployment, catalog: CatalogSnapshot): boolean {
  // Calls of a router have the price of the model that it selects.
  if (deployment.autoRouter !== undefined) return true;
  const row = pricedRow(deployment, catalog);
  return (
    Object.entries(row).some(([name, value]) => isPriceField(name) && value !== null && value !== undefined) ||
    hasPricesBySize(deployment, catalog)
  );
}

/**
 * A router without the deployments that have no price, while `isOn`. Selecting a model whose deployments all lack a
 * price throws Forbidden. `all` is empty for such a model.
 */
export function pricedOnly(
  routeOf: TeamRouter,
  { isOn, catalog }: { readonly isOn: () => boolean; readonly catalog: () => CatalogSnapshot },
): TeamRouter {
  const routers = new WeakMap<Router, Router>();
  const known = new WeakMap<Deployment, { readonly snapshot: CatalogSnapshot; readonly priced: boolean }>();

  function hasPrice({ deployment }: Route): boolean {
    const current = catalog();
    let found = known.get(deployment);
    if (found?.snapshot !== current) {
      found = { snapshot: current, priced: isPriced(deployment, current) };
      known.set(deployment, found);
    }
    return found.priced;
  }

  function pricedRouter(router: Router): Router {
    const filtered = filteredRouter(router, () => (isOn() ? hasPrice : null));
    const select = (model: string, deploymentId?: string): Route | null => {
      if (!isOn()) return router(model, deploymentId);
      const found = filtered(model, deploymentId);
      const isUnpriced = found === null && router.all(model).length > 0 && filtered.all(model).length === 0;
      if (isUnpriced) throw noPriceOf(model);
      return found;
    };
    return Object.assign(select, { all: filtered.all, byId: filtered.byId });
  }

  const ofTeam = (teamId: string | null): Router | null => {
    const own = routeOf.forTeam(teamId);
    if (own === null) return null;
    const router = routers.get(own) ?? pricedRouter(own);
    routers.set(own, router);
    return router;
  };
  return Object.assign(pricedRouter(routeOf), { forTeam: ofTeam });
}

/** Error for a call of a model without a price. */
export const noPriceOf = (model: string): Forbidden =>
  new Forbidden(`The model ${model} has no price. Calls of models without a price are blocked.`, 'model_blocked');
