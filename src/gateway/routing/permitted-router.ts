import type { Deployment } from '../../domain/chat/provider.ts';
import type { Region } from '../../domain/customers/customer.ts';
import { Forbidden } from '../../domain/errors.ts';
import { admittingGroups, type VirtualKey } from '../../domain/keys/virtual-key.ts';
import type { LabelBudget } from '../admission/label-budgets.ts';
import { filteredRouter, type Route, type Router, type TeamRouter } from './route.ts';

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
  const known = permittedRouters.get(key);
  if (known?.of === routeOf) return known.router;
  const permitted = filteredRouter(routeOf, (model) => {
    const lists = admittingGroups(key, model);
    if (lists.length === 0) return null;
    return ({ deployment: { accessGroups = [] } }) =>
      lists.every((groups) => groups.some((group) => accessGroups.includes(group)));
  });
  permittedRouters.set(key, { of: routeOf, router: permitted });
  return permitted;
}

/** The router of each key, and the one that it filters: making one costs more than a call of it. */
const permittedRouters = new WeakMap<VirtualKey, { readonly of: Router; readonly router: Router }>();

/** Region of the calls of a customer. */
export type CustomerPlace = NonNullable<LabelBudget['place']>;

const REGIONS: readonly (readonly [Region, RegExp])[] = [
  ['eu', /^(eu|europe)(-|$)/],
  ['us', /^us(-|$)/],
];

/** The region of a deployment, by its settings or its address; null where neither names one. */
function regionOf({ options, apiBase }: Pick<Deployment, 'options' | 'apiBase'>): Region | null {
  const host = URL.parse(apiBase ?? '')?.hostname.replace('.', '-');
  const named = options['region_name'] ?? options['aws_region_name'] ?? options['vertex_location'] ?? host ?? '';
  return REGIONS.find(([, form]) => form.test(named))?.[0] ?? null;
}

/** A router with the deployments of one region only; the router itself without a region. */
export function inRegion(routeOf: Router, region: Region | undefined): Router {
  if (region === undefined) return routeOf;
  const isThere = ({ deployment }: Route): boolean => regionOf(deployment) === region;
  return filteredRouter(routeOf, () => isThere);
}

/** The region of the customer of a call; null for any. */
export const placeOf = (labels: readonly LabelBudget[]): CustomerPlace | null =>
  labels.find(({ place }) => place !== undefined)?.place ?? null;

export const nowhere = (model: string, region: Region): Forbidden =>
  new Forbidden(
    `No deployment of the model ${model} is in the region ${region}, which the customer's calls may not leave.`,
  );
