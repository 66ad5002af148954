import { AGENT_PROVIDER } from '../../src/domain/a2a-agents/upstream.ts';
import { visibilityOf } from '../../src/domain/caller.ts';
import type { CatalogEntry } from '../../src/domain/catalog/catalog.ts';
import type { Deployment } from '../../src/domain/chat/provider.ts';
import type { Health } from '../../src/domain/deployments/health.ts';
import type { Probe } from '../../src/domain/deployments/probe.ts';
import { catalogEntryFor } from '../../src/domain/deployments/catalog-entry.ts';
import { priceWarning } from '../../src/domain/deployments/price-warning.ts';
import { publicAddress } from '../../src/domain/deployments/public-address.ts';
import { mayCallSome } from '../../src/domain/deployments/model-names.ts';
import { isCommonOrOfTeam } from '../../src/domain/deployments/team-models.ts';
import { callerOf } from './operation.ts';
import type { DeploymentPlatform } from './model-platform.ts';
import type { Scope } from './scope.ts';

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
  const isOfTeam = (one: Deployment): boolean => isCommonOrOfTeam(caller.key, one) || one.teamId === teamId;
  const snapshot = catalog.current();
  return gateway
    .deployments()
    .filter((one) => isAdmin || (isOfTeam(one) && mayCallSome(caller.key, one.modelGroup)))
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

function faultOf({ misconfigured }: Deployment, isAdmin: boolean): string | null {
  if (misconfigured === undefined) return null;
  return isAdmin ? misconfigured : 'It is misconfigured.';
}

type AddressScope = Pick<Scope<Pick<DeploymentPlatform, 'exposesApiBase'>>, 'platform' | 'caller'>;

const seesAll = ({ caller }: AddressScope): boolean => caller !== null && visibilityOf(caller).kind === 'all';

/** Whether answers to this caller contain the base address of the upstream. */
export const seesApiBase = (scope: AddressScope): boolean => scope.platform.exposesApiBase || seesAll(scope);

/** As `seesApiBase`, for a target. Only administrators see the address of an agent, which its served card replaces. */
export const seesTargetAddress = (scope: AddressScope, { provider }: Pick<Deployment, 'provider'>): boolean =>
  provider === AGENT_PROVIDER ? seesAll(scope) : seesApiBase(scope);
