import { Forbidden, NotFound } from '../src/domain/errors.ts';
import { visibilityOf } from '../src/domain/caller.ts';
import type { HealthCheck } from '../src/domain/deployments/health-check.ts';
import type { Probe } from '../src/domain/deployments/probe.ts';
import { mayCall, resolveModelAlias } from '../src/domain/keys/virtual-key.ts';
import { anyKey, system } from './operation/access.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { DeploymentPlatform } from './operation/model-platform.ts';
import { pageOf, removeOldest } from './operation/row-pages.ts';
import type { Scope } from './operation/scope.ts';
import { type VisibleDeployment, visibleDeployments } from './operation/visible-deployments.ts';

/** Filter of deployments; null matches all. */
export interface DeploymentFilter {
  /** Public name, or name at the upstream, with or without the provider. */
  readonly model: string | null;
  readonly deploymentId: string | null;
}

/** A deployment. `probe` is its last probe, or the reason why it cannot be probed; null before the first probe. */
export interface CheckedDeployment {
  readonly deployment: VisibleDeployment;
  readonly probe: Probe | string | null;
}

/** Maximum number of concurrent probes. */
const CONCURRENCY = 8;

/** Runs a function for each item, a few at a time. Returns the results in order. */
async function mapInBatches<Item, Result>(
  items: readonly Item[],
  run: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (let from = 0; from < items.length; from += CONCURRENCY)
    results.push(...(await Promise.all(items.slice(from, from + CONCURRENCY).map(run))));
  return results;
}

const isFiltered = ({ model, deploymentId }: DeploymentFilter): boolean => model !== null || deploymentId !== null;

/**
 * The visible deployments that match; an empty list when none does. Throws Forbidden for a model that the key may not
 * call, whether or not the model exists.
 */
function matchingDeployments(
  scope: Scope<DeploymentPlatform>,
  { model, deploymentId }: DeploymentFilter,
): readonly VisibleDeployment[] {
  const found = visibleDeployments(scope).filter(
    ({ id, modelGroup, provider, upstreamModel }) =>
      (deploymentId === null || id === deploymentId) &&
      (model === null || [modelGroup, upstreamModel, `${provider}/${upstreamModel}`].includes(model)),
  );
  const { key } = callerOf(scope);
  if (found.length === 0 && model !== null && !mayCall(key, resolveModelAlias(key, model)))
    throw new Forbidden(`key not allowed to health-check model ${model}`, 'health_model');
  return found;
}

/** Probes deployments. A deployment that is removed meanwhile is left out. */
async function probeEach(
  scope: Scope<DeploymentPlatform>,
  deployments: readonly VisibleDeployment[],
): Promise<readonly CheckedDeployment[]> {
  const { gateway } = scope.platform;
  const probed = await mapInBatches(deployments, async ({ id }) => {
    const deployed = gateway.deployments().find((one) => one.id === id);
    const probe = deployed === undefined ? null : await gateway.probe(callerOf(scope), deployed, scope.signal);
    // Read again, because the probe may have changed the health of the deployment.
    const deployment = visibleDeployments(scope).find((one) => one.id === id);
    return deployment === undefined ? null : { deployment, probe };
  });
  return probed.filter((one) => one !== null);
}

/**
 * Probes deployments at the cost of the caller. Throws NotFound when a filter matches none, Forbidden and
 * LimitExceeded; a failed probe is a result, not an error.
 */
export const probeDeployments = operation({
  name: 'probeDeployments',
  access: anyKey,
  async run(scope: Scope<DeploymentPlatform>, wanted: DeploymentFilter): Promise<readonly CheckedDeployment[]> {
    const found = matchingDeployments(scope, wanted);
    const name = wanted.model ?? wanted.deploymentId ?? '';
    if (found.length === 0 && isFiltered(wanted))
      throw new NotFound('checked model', name, `No deployment that this key may call matches ${name}.`);
    return probeEach(scope, found);
  },
});

/** Deployments with their last probes. */
export interface HealthReport {
  readonly checked: readonly CheckedDeployment[];
  /** Whether reports have details in addition to names. */
  readonly details: boolean;
  /** Whether the caller sees addresses; administrators only. */
  readonly seesAddress: boolean;
}

/**
 * Probes deployments at the cost of the caller. With periodic probes, returns the last result of each deployment and
 * sends no probe. A model that no deployment has is an empty result. Throws NotFound for an unknown id, Forbidden and
 * LimitExceeded.
 */
export const checkHealth = operation({
  name: 'checkHealth',
  access: anyKey,
  async run(scope: Scope<DeploymentPlatform>, wanted: DeploymentFilter): Promise<HealthReport> {
    const { background, details } = scope.platform.healthChecks;
    const seesAddress = visibilityOf(callerOf(scope)).kind === 'all';
    const found = matchingDeployments(scope, wanted);
    const { deploymentId } = wanted;
    if (found.length === 0 && deploymentId !== null)
      throw new NotFound('checked model', deploymentId, `/health: Model with ID ${deploymentId} not found`);
    if (!background) return { checked: await probeEach(scope, found), details, seesAddress };
    const checked = found.map((deployment) => ({
      deployment,
      probe: deployment.lastProbe ?? deployment.fault,
    }));
    return { checked, details, seesAddress };
  },
});

/** Query for one page of checks. A check is the stored result of a probe. Null matches all. */
export interface HealthCheckQuery {
  readonly model: string | null;
  readonly isHealthy: boolean | null;
  readonly descending: boolean;
  readonly limit: number;
  /** Number of checks to skip, or the check after which the page begins. */
  readonly from: number | { readonly createdAt: Date; readonly id: string };
}

/** A page of stored checks, and the number of all that match. */
export interface HealthCheckPage {
  readonly checks: readonly HealthCheck[];
  readonly totalCount: number;
  readonly hasMore: boolean;
}

/**
 * Lists the checks by all processes, by time in the direction of the page. Administrators see all checks, also those of
 * deleted deployments. Other callers see checks of deployments that they may see.
 */
export const listHealthChecks = operation({
  name: 'listHealthChecks',
  access: anyKey,
  async run(
    scope: Scope<DeploymentPlatform>,
    { model, isHealthy, ...page }: HealthCheckQuery,
  ): Promise<HealthCheckPage> {
    const { stores, healthChecks } = scope.platform;
    await healthChecks.queue.caughtUp();
    const seesAll = visibilityOf(callerOf(scope)).kind === 'all';
    const deploymentIds = seesAll ? null : visibleDeployments(scope).map(({ id }) => id);
    const filter = { deploymentIds, modelGroup: model, isHealthy, before: null };
    const { nodes: checks, ...counts } = await pageOf(stores.healthChecks, filter, { ...page, sort: 'created_at' });
    return { ...counts, checks };
  },
});

/** Lists the last check by any process of each deployment that the caller may see and that was checked. */
export const listLatestHealthChecks = operation({
  name: 'listLatestHealthChecks',
  access: anyKey,
  async run(scope: Scope<DeploymentPlatform>, _input: undefined): Promise<readonly HealthCheck[]> {
    const { stores, healthChecks } = scope.platform;
    await healthChecks.queue.caughtUp();
    return await stores.healthChecks.latest(visibleDeployments(scope).map(({ id }) => id));
  },
});

/** Removes at most `limit` checks from before `beforeMs`; resolves to their number. */
export const removeExpiredHealthChecks = operation({
  name: 'removeExpiredHealthChecks',
  access: system,
  async run(
    { platform }: Scope<DeploymentPlatform>,
    { beforeMs, limit }: { readonly beforeMs: number; readonly limit: number },
  ): Promise<number> {
    const filter = { deploymentIds: null, modelGroup: null, isHealthy: null, before: new Date(beforeMs) };
    return removeOldest(platform.stores.healthChecks, filter, limit);
  },
});

/** Probes every deployment, except those that are probed on demand only. */
export const probeAllDeployments = operation({
  name: 'probeAllDeployments',
  access: system,
  async run(scope: Scope<DeploymentPlatform>, _input: undefined): Promise<void> {
    const { gateway } = scope.platform;
    const probed = gateway.deployments().filter(({ probe }) => probe?.onDemandOnly !== true);
    await mapInBatches(probed, (deployment) => gateway.probe(callerOf(scope), deployment, scope.signal));
  },
});
