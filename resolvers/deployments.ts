import { visibilityOf } from '../src/domain/caller.ts';
import type { CatalogEntry } from '../src/domain/catalog/catalog.ts';
import type { Deployment } from '../src/domain/chat/provider.ts';
import type { Health } from '../src/domain/deployments/health.ts';
import type { Probe } from '../src/domain/deployments/probe.ts';
import { entryFor } from '../src/domain/deployments/priced-by.ts';
import { publicAddress } from '../src/domain/deployments/public-address.ts';
import { mayCallSome } from '../src/domain/deployments/model-names.ts';
import { anyKey } from './operation/access.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { Scope } from './operation/scope.ts';

/** A deployment as a caller may see it: nothing of its credentials, and its address for administrators only. */
export interface SeenDeployment extends Pick<Deployment, 'id' | 'modelGroup' | 'provider' | 'upstreamModel'> {
  readonly apiBase: string | null;
  readonly entry: CatalogEntry | null;
  readonly health: Health;
  /** How it answered when it was last asked for nothing else; null where it was not. */
  readonly lastProbe: Probe | null;
}

/** The deployments a caller may see, in the order of the configuration: administrators all, others those they may call. */
export function seenBy(scope: Scope): readonly SeenDeployment[] {
  const caller = callerOf(scope);
  const { gateway, prober, catalog } = scope.platform;
  const isAdmin = visibilityOf(caller).kind === 'all';
  const snapshot = catalog.current();
  return gateway
    .deployments()
    .filter(({ modelGroup }) => isAdmin || mayCallSome(caller.key, modelGroup))
    .map((deployment) => ({
      id: deployment.id,
      modelGroup: deployment.modelGroup,
      provider: deployment.provider,
      upstreamModel: deployment.upstreamModel,
      apiBase: isAdmin && deployment.apiBase !== null ? publicAddress(deployment.apiBase) : null,
      entry: entryFor(deployment, snapshot),
      health: gateway.healthOf(deployment.id),
      lastProbe: prober.lastProbe(deployment.id),
    }));
}

/** Whether answers to this caller name the base address of the upstream. */
export const seesApiBase = ({ platform, caller }: Pick<Scope, 'platform' | 'caller'>): boolean =>
  platform.exposesApiBase || (caller !== null && visibilityOf(caller).kind === 'all');

/** The deployments a caller may see, of one model group where one is named. */
export const listDeployments = operation({
  name: 'listDeployments',
  access: anyKey,
  run: (scope, { model }: { readonly model: string | null }): readonly SeenDeployment[] =>
    seenBy(scope).filter(({ modelGroup }) => model === null || modelGroup === model),
});

/** Deployments that have something in common, under its name. */
export interface DeploymentGroup {
  readonly name: string;
  readonly deployments: readonly SeenDeployment[];
}

const grouped = (
  deployments: readonly SeenDeployment[],
  by: (deployment: SeenDeployment) => string,
): readonly DeploymentGroup[] =>
  [...Map.groupBy(deployments, by)].map(([name, members]) => ({ name, deployments: members }));

/** The providers of the deployments a caller may see. */
export const listProviders = operation({
  name: 'listProviders',
  access: anyKey,
  run: (scope, _input: undefined): readonly DeploymentGroup[] => grouped(seenBy(scope), ({ provider }) => provider),
});

/** The model groups a caller may call. */
export const listCallableModels = operation({
  name: 'listCallableModels',
  access: anyKey,
  run(scope, _input: undefined): readonly DeploymentGroup[] {
    const { key } = callerOf(scope);
    return grouped(seenBy(scope), ({ modelGroup }) => modelGroup).filter(({ name }) => mayCallSome(key, name));
  },
});
