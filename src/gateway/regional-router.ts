import type { Deployment } from '../domain/chat/provider.ts';
import type { Region } from '../domain/customers/customer.ts';
import { Forbidden } from '../domain/errors.ts';
import type { LabelBudget } from './label-budgets.ts';
import type { Route, Router } from './route.ts';

/** Where a customer's calls may be processed. */
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
  const all = (model: string): readonly Route[] => routeOf.all(model).filter(isThere);
  const select = (model: string, deploymentId?: string): Route | null => {
    let found = routeOf(model, deploymentId);
    if (found === null || isThere(found)) return found;
    if (deploymentId !== undefined) return null;
    const turns = routeOf.all(model).length;
    for (let turn = 1; turn < turns; turn += 1) {
      found = routeOf(model);
      if (found !== null && isThere(found)) return found;
    }
    return all(model)[0] ?? null;
  };
  const byId = (id: string): Route | null => {
    const found = routeOf.byId(id);
    return found !== null && isThere(found) ? found : null;
  };
  return Object.assign(select, { all, byId });
}

/** The place of the customer of a call; null where its calls may go anywhere. */
export const placeOf = (labels: readonly LabelBudget[]): CustomerPlace | null =>
  labels.find(({ place }) => place !== undefined)?.place ?? null;

export const nowhere = (model: string, region: Region): Forbidden =>
  new Forbidden(
    `No deployment of the model ${model} is in the region ${region}, which the customer's calls may not leave.`,
  );
