import type { Caller } from '../src/domain/caller.ts';
import { NotFound } from '../src/domain/errors.ts';
import type { Probe } from '../src/domain/deployments/probe.ts';
import { anyKey } from './operation/access.ts';
import { type SeenDeployment, seenBy } from './deployments.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { Platform, Scope } from './operation/scope.ts';

/** Which deployments are meant; null leaves it open. */
export interface Wanted {
  /** The public name, or that of the upstream. */
  readonly model: string | null;
  readonly deploymentId: string | null;
}

/** A deployment, and how it answered; or why it is not asked, or null where that has not been done yet. */
export interface Checked {
  readonly deployment: SeenDeployment;
  readonly found: Probe | string | null;
}

/** How many deployments are asked at once. */
const AT_ONCE = 8;

/** Does something for each, a few at a time; the results in their order. */
async function eachOf<Item, Result>(
  items: readonly Item[],
  run: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (let from = 0; from < items.length; from += AT_ONCE)
    results.push(...(await Promise.all(items.slice(from, from + AT_ONCE).map(run))));
  return results;
}

/** Those of the deployments a caller may see that are meant. Throws NotFound where there is none. */
function wantedOf(scope: Scope, { model, deploymentId }: Wanted): readonly SeenDeployment[] {
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
 * Asks deployments whether they answer, in the name of the caller, who pays. Throws NotFound and LimitExceeded; a
 * deployment that does not answer is a result.
 */
export const probeDeployments = operation({
  name: 'probeDeployments',
  access: anyKey,
  run: (scope, wanted: Wanted): Promise<readonly Checked[]> =>
    eachOf(wantedOf(scope, wanted), async ({ id }) => {
      const { gateway, prober } = scope.platform;
      const asked = gateway.deployments().find((one) => one.id === id);
      const found = asked === undefined ? null : await prober.probe(callerOf(scope), asked, scope.signal);
      const deployment = seenBy(scope).find((one) => one.id === id);
      if (deployment === undefined) throw new NotFound('model', id);
      return { deployment, found };
    }),
});

/** The same; where deployments are asked all the time, how they answered last. */
export const checkHealth = operation({
  name: 'checkHealth',
  access: anyKey,
  async run(scope, wanted: Wanted): Promise<{ readonly checked: readonly Checked[]; readonly details: boolean }> {
    const { background, details } = scope.platform.healthChecks;
    if (!background) return { checked: await probeDeployments(scope, wanted), details };
    const checked = wantedOf(scope, wanted).map((deployment) => ({ deployment, found: deployment.lastProbe }));
    return { checked, details };
  },
});

/** In whose name deployments are asked that nobody asks for. */
const NOBODY: Caller = { role: 'proxy_admin', keyHash: 'health-check', key: null, teamId: null, userId: null };

/** Asks every deployment whether it answers, but those that are asked on demand only. */
export async function probeAll({ gateway, prober }: Platform, signal: AbortSignal): Promise<void> {
  const asked = gateway.deployments().filter(({ probe }) => probe?.onDemandOnly !== true);
  await eachOf(asked, (deployment) => prober.probe(NOBODY, deployment, signal));
}
