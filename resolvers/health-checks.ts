import { NotFound } from '../src/domain/errors.ts';
import type { Probe, RecordedProbe } from '../src/domain/deployments/probe.ts';
import { anyKey, system } from './operation/access.ts';
import { type SeenDeployment, seenBy } from './deployments.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { DeploymentPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';

/** Filter of deployments; null matches all. */
export interface Wanted {
  /** Public name, or name at the upstream. */
  readonly model: string | null;
  readonly deploymentId: string | null;
}

/** A deployment and its probe, or the reason why it is not probed; null before its first probe. */
export interface Checked {
  readonly deployment: SeenDeployment;
  readonly found: Probe | string | null;
}

/** Most concurrent probes. */
const CONCURRENCY = 8;

/** Runs a function for each item, a few at a time. Returns the results in order. */
async function mapStream<Item, Result>(
  items: readonly Item[],
  run: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (let from = 0; from < items.length; from += CONCURRENCY)
    results.push(...(await Promise.all(items.slice(from, from + CONCURRENCY).map(run))));
  return results;
}

/** The visible deployments that match. Throws NotFound when a filter matches none. */
function wantedOf(scope: Scope<DeploymentPlatform>, { model, deploymentId }: Wanted): readonly SeenDeployment[] {
  const found = seenBy(scope).filter(
    ({ id, modelGroup, provider, upstreamModel }) =>
      (deploymentId === null || id === deploymentId) &&
      (model === null || [modelGroup, upstreamModel, `${provider}/${upstreamModel}`].includes(model)),
  );
  if (found.length > 0 || (model === null && deploymentId === null)) return found;
  const name = model ?? deploymentId ?? '';
  throw new NotFound('model', name, `/health: No deployment of this key answers to ${name}.`);
}

/**
 * Probes deployments at the cost of the caller. Throws NotFound and LimitExceeded; a deployment that does not answer is
 * a result.
 */
export const probeDeployments = operation({
  name: 'probeDeployments',
  access: anyKey,
  run: (scope: Scope<DeploymentPlatform>, wanted: Wanted): Promise<readonly Checked[]> =>
    mapStream(wantedOf(scope, wanted), async ({ id }) => {
      const { gateway } = scope.platform;
      const asked = gateway.deployments().find((one) => one.id === id);
      const found = asked === undefined ? null : await gateway.probe(callerOf(scope), asked, scope.signal);
      const deployment = seenBy(scope).find((one) => one.id === id);
      if (deployment === undefined) throw new NotFound('model', id);
      return { deployment, found };
    }),
});

/** As `probeDeployments`; with periodic probes, the last result of each. */
export const checkHealth = operation({
  name: 'checkHealth',
  access: anyKey,
  async run(
    scope: Scope<DeploymentPlatform>,
    wanted: Wanted,
  ): Promise<{ readonly checked: readonly Checked[]; readonly details: boolean }> {
    const { background, details } = scope.platform.healthChecks;
    if (!background) return { checked: await probeDeployments(scope, wanted), details };
    const checked = wantedOf(scope, wanted).map((deployment) => ({
      deployment,
      found: deployment.lastProbe ?? deployment.fault,
    }));
    return { checked, details };
  },
});

/** Filter and page of recent probes. Null matches all. */
export interface ProbePageDraft {
  readonly model: string | null;
  readonly isHealthy: boolean | null;
  readonly limit: number;
  readonly offset: number;
}

/** A page of recent probes, and the number of all that match. */
export interface ProbePage {
  readonly probes: readonly RecordedProbe[];
  readonly total: number;
  readonly draft: ProbePageDraft;
}

/** Lists the recent probes by this process of deployments that the caller may see, the newest first. */
export const listProbes = operation({
  name: 'listProbes',
  access: anyKey,
  run(scope: Scope<DeploymentPlatform>, draft: ProbePageDraft): ProbePage {
    const { model, isHealthy, limit, offset } = draft;
    const seen = new Set(seenBy(scope).map(({ id }) => id));
    const found = scope.platform.gateway
      .recentProbes()
      .filter(
        ({ deploymentId, modelGroup, failure }) =>
          seen.has(deploymentId) &&
          (model === null || modelGroup === model) &&
          (isHealthy === null || (failure === null) === isHealthy),
      );
    return { probes: found.slice(offset, offset + limit), total: found.length, draft };
  },
});

/** Lists the last probe by this process of each deployment that the caller may see and that was probed. */
export const listLatestProbes = operation({
  name: 'listLatestProbes',
  access: anyKey,
  run(scope: Scope<DeploymentPlatform>, _input: undefined): readonly RecordedProbe[] {
    const { probes } = listProbes(scope, { model: null, isHealthy: null, limit: Infinity, offset: 0 });
    return [...Map.groupBy(probes, ({ deploymentId }) => deploymentId).values()].flatMap((all) => all.slice(0, 1));
  },
});

/** Probes every deployment that is not probed on demand only. */
export const probeAllDeployments = operation({
  name: 'probeAllDeployments',
  access: system,
  async run(scope: Scope<DeploymentPlatform>, _input: undefined): Promise<void> {
    const { gateway } = scope.platform;
    const probed = gateway.deployments().filter(({ probe }) => probe?.onDemandOnly !== true);
    await mapStream(probed, (deployment) => gateway.probe(callerOf(scope), deployment, scope.signal));
  },
});
