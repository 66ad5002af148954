import { visibilityOf } from '../src/domain/caller.ts';
import type { CatalogEntry } from '../src/domain/catalog/catalog.ts';
import type { Deployment } from '../src/domain/chat/provider.ts';
import type { Health } from '../src/domain/deployments/health.ts';
import type { Probe } from '../src/domain/deployments/probe.ts';
import { catalogEntryFor } from '../src/domain/deployments/catalog-entry.ts';
import { priceWarning } from '../src/domain/deployments/price-warning.ts';
import { publicAddress } from '../src/domain/deployments/public-address.ts';
import { mayCallSome } from '../src/domain/deployments/model-names.ts';
import { deploymentsFor, isCommonOrOfTeam } from '../src/domain/deployments/team-models.ts';
import { anyKey } from './operation/access.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { DeploymentPlatform } from './operation/model-platform.ts';
import type { TeamPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import { readableTeam } from './operation/team-views.ts';

/** A deployment without its credentials. Only administrators see its address. */
export interface VisibleDeployment extends Pick<Deployment, 'id' | 'modelGroup' | 'provider' | 'upstreamModel'> {
  /** The only team whose keys may call it; null for a model without a team. */
  readonly teamId: string | null;
  readonly apiBase: string | null;
  readonly entry: CatalogEntry | null;
  /** Why it cannot be called; null when it can. Only administrators see the reason; others get a general text. */
  readonly fault: string | null;
  /** Warning about its prices; null for none, and for callers who are not administrators. */
  readonly warning: string | null;
  readonly health: Health;
  /** Result of the last health probe by this process; null for none. */
  readonly lastProbe: Probe | null;
  readonly accessGroups: readonly string[];
  /** Milliseconds until calls are sent to it again after failures; 0 when they are sent now. */
  readonly cooldownMs: number;
}

/**
 * Deployments that the caller sees, in configured order. Administrators see all deployments, other callers those that
 * they may call. `teamId` adds the deployments of a team; the caller of this function has checked access to the team.
 */
export function visibleDeployments(scope: Scope<DeploymentPlatform>, teamId?: string): readonly VisibleDeployment[] {
  const caller = callerOf(scope);
  const { gateway, catalog } = scope.platform;
  const isAdmin = visibilityOf(caller).kind === 'all';
  const snapshot = catalog.current();
  return gateway
    .deployments()
    .filter(
      (one) =>
        isAdmin ||
        ((isCommonOrOfTeam(caller.key, one) || one.teamId === teamId) && mayCallSome(caller.key, one.modelGroup)),
    )
    .map((deployment) => [deployment, catalogEntryFor(deployment, snapshot)] as const)
    .map(([deployment, entry]) => ({
      id: deployment.id,
      modelGroup: deployment.modelGroup,
      teamId: deployment.teamId ?? null,
      provider: deployment.provider,
      upstreamModel: deployment.upstreamModel,
      apiBase: isAdmin && deployment.apiBase !== null ? publicAddress(deployment.apiBase) : null,
      entry,
      fault: faultOf(deployment, isAdmin),
      warning: isAdmin ? priceWarning(deployment, entry) : null,
      health: gateway.healthOf(deployment.id),
      lastProbe: gateway.lastProbe(deployment.id),
      accessGroups: deployment.accessGroups ?? [],
      cooldownMs: gateway.cooldownMs(deployment.id),
    }));
}

const faultOf = ({ misconfigured }: Deployment, isAdmin: boolean): string | null =>
  misconfigured === undefined ? null : isAdmin ? misconfigured : 'It is misconfigured.';

/** Whether answers to this caller contain the base address of the upstream. */
export const seesApiBase = ({ platform, caller }: Pick<Scope<DeploymentPlatform>, 'platform' | 'caller'>): boolean =>
  platform.exposesApiBase || (caller !== null && visibilityOf(caller).kind === 'all');

/** Deployments that a caller may see, of one model group when it is named. */
export const listDeployments = operation({
  name: 'listDeployments',
  access: anyKey,
  run: (scope: Scope<DeploymentPlatform>, { model }: { readonly model: string | null }): readonly VisibleDeployment[] =>
    visibleDeployments(scope).filter(({ modelGroup }) => model === null || modelGroup === model),
});

/**
 * Lists the deployments of a team, for callers that may read the team. Callers other than administrators see those that
 * their key may call. Throws NotFound and Forbidden.
 */
export const listTeamDeployments = operation({
  name: 'listTeamDeployments',
  access: anyKey,
  async run(
    scope: Scope<DeploymentPlatform & TeamPlatform>,
    { teamId }: { readonly teamId: string },
  ): Promise<readonly VisibleDeployment[]> {
    await readableTeam(scope, teamId);
    return visibleDeployments(scope, teamId).filter((one) => one.teamId === teamId);
  },
});

/** Deployments of one provider or of one model group. */
export interface DeploymentGroup {
  readonly name: string;
  readonly deployments: readonly VisibleDeployment[];
}

const grouped = (
  deployments: readonly VisibleDeployment[],
  by: (deployment: VisibleDeployment) => string,
): readonly DeploymentGroup[] =>
  [...Map.groupBy(deployments, by)].map(([name, members]) => ({ name, deployments: members }));

/** Providers of the deployments that a caller may see. */
export const listProviders = operation({
  name: 'listProviders',
  access: anyKey,
  run: (scope: Scope<DeploymentPlatform>, _input: undefined): readonly DeploymentGroup[] =>
    grouped(visibleDeployments(scope), ({ provider }) => provider),
});

/** Model groups that a caller may call. */
export const listCallableModels = operation({
  name: 'listCallableModels',
  access: anyKey,
  run(scope: Scope<DeploymentPlatform>, _input: undefined): readonly DeploymentGroup[] {
    const { key } = callerOf(scope);
    const callable = deploymentsFor(key, visibleDeployments(scope));
    return grouped(callable, ({ modelGroup }) => modelGroup).filter(({ name }) => mayCallSome(key, name));
  },
});
