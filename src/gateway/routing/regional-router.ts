import type { Deployment } from '../../domain/chat/provider.ts';
import type { Region } from '../../domain/customers/customer.ts';
import { Forbidden } from '../../domain/errors.ts';
import { filteredRouter } from './filtered-router.ts';
import type { LabelBudget } from '../admission/label-budgets.ts';
import type { Route, Router } from './route.ts';

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
