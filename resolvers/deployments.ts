import { mayCallSome } from '../src/domain/deployments/model-names.ts';
import { deploymentsFor } from '../src/domain/deployments/team-models.ts';
import { anyKey } from './operation/access.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { DeploymentPlatform } from './operation/model-platform.ts';
import type { TeamPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import { readableTeam } from './operation/team-views.ts';
import { type VisibleDeployment, visibleDeployments } from './operation/visible-deployments.ts';

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
