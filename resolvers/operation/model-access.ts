import { visibilityOf } from '../../src/domain/caller.ts';
import type { ModelInfo } from '../../src/domain/deployments/model-info.ts';
import { allowsModel } from '../../src/domain/keys/virtual-key.ts';
import { nullIfBlank } from '../../src/domain/optional-text.ts';
import { ALL_TEAMS, type Team } from '../../src/domain/teams/team.ts';
import { callerOf } from './operation.ts';
import type { DeploymentPlatform } from './model-platform.ts';
import type { TeamPlatform } from './platform.ts';
import type { Scope } from './scope.ts';

/** How a caller's user may call a model. */
export interface ModelAccess {
  /** Whether the user may call it without a team. */
  readonly isDirect: boolean;
  /** Ids of teams through which the user may call it. Null only when the caller has no user. */
  readonly teamIds: readonly string[] | null;
}

type AccessScope = Scope<DeploymentPlatform & TeamPlatform>;

/** Teams that the caller sees: all for administrators, those of the user for other callers. */
async function teamsOf(scope: AccessScope, user: string | null): Promise<readonly Team[]> {
  const { stores } = scope.platform;
  if (visibilityOf(callerOf(scope)).kind === 'all') return await stores.teams.all(ALL_TEAMS);
  if (user === null) return [];
  const members = await stores.teamMembers.all({ teamIds: null, userIds: [user] });
  return await stores.teams.findMany(members.map(({ teamId }) => teamId));
}

/** Finds how the caller's user may call models. Teams with equal lists of models share one check per model. */
export async function modelAccess(scope: AccessScope): Promise<(model: ModelInfo) => ModelAccess> {
  const { stores, deployments } = scope.platform;
  const caller = callerOf(scope);
  const seesAll = visibilityOf(caller).kind === 'all';
  const user = nullIfBlank(caller.userId);
  const [teams, row] = await Promise.all([
    teamsOf(scope, user),
    seesAll || user === null ? null : stores.users.find(user),
  ]);
  const teamsWithSameModels = [...Map.groupBy(teams, ({ models }) => JSON.stringify(models)).values()];
  const noTeams = user === null ? null : [];
  return ({ name, deployment: { teamId } }) => {
    // A deployment of a team is called only through that team.
    if (teamId !== undefined)
      return { isDirect: false, teamIds: teams.some(({ id }) => id === teamId) ? [teamId] : noTeams };
    const groups = deployments.accessGroupsOf(name);
    const isDirect = seesAll || (row !== null && allowsModel(row.models, name, groups));
    if (!seesAll && user === null) return { isDirect, teamIds: null };
    const teamIds = teamsWithSameModels
      .filter(([first]) => first !== undefined && allowsModel(first.models, name, groups))
      .flatMap((same) => same.map(({ id }) => id))
      // For a team with its own model of this name, the name selects that model.
      .filter((id) => !deployments.isTeamModel(id, name));
    return { isDirect, teamIds };
  };
}
