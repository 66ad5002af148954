import { InvalidInput, NotFound } from '../src/domain/errors.ts';
import { withPermissions } from '../src/domain/teams/permissions.ts';
import { ALL_TEAMS, patchedTeam, type Team } from '../src/domain/teams/team.ts';
import { tenantAdmin } from './operation/access.ts';
import { authored } from './operation/authored.ts';
import { operation } from './operation/operation.ts';
import type { TeamPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';

/** Permissions to add, and the teams that get them. */
export interface AddedPermissions {
  /** Key routes. */
  readonly permissions: readonly string[];
  /** Ids of the teams; empty with `allTeams`. */
  readonly teamIds: readonly string[];
  readonly allTeams: boolean;
}

/** The teams of a change. Throws InvalidInput unless it names teams or all teams, and NotFound for unknown ids. */
async function namedTeams(
  { platform }: Scope<TeamPlatform>,
  { teamIds, allTeams }: AddedPermissions,
): Promise<readonly Team[]> {
  if (allTeams && teamIds.length > 0) throw new InvalidInput('Cannot set both apply_to_all_teams=true and team_ids');
  if (allTeams) return platform.stores.teams.all(ALL_TEAMS);
  if (teamIds.length === 0) throw new InvalidInput('Must provide team_ids or set apply_to_all_teams=true');
  const teams = await platform.stores.teams.findMany(teamIds);
  const known = new Set(teams.map(({ id }) => id));
  const unknown = [...new Set(teamIds)].filter((id) => !known.has(id)).toSorted();
  if (unknown.length === 0) return teams;
  const listed = unknown.map((id) => `'${id}'`).join(', ');
  throw new NotFound('team', unknown[0] ?? '', `Team(s) not found: [${listed}]`);
}

/**
 * Adds permissions of members to teams. Teams that have all of them stay unchanged. Returns the number of changed
 * teams. Throws InvalidInput, and NotFound before any team is changed.
 */
export const addTeamPermissions = operation({
  name: 'addTeamPermissions',
  access: tenantAdmin,
  async run(scope: Scope<TeamPlatform>, added: AddedPermissions): Promise<number> {
    const { permissions } = added;
    if (permissions.length === 0) return 0;
    const { stores, ownedKeys } = scope.platform;
    const authorship = authored(scope);
    let changed = 0;
    for (const { id } of (await namedTeams(scope, added)).filter(
      (team) => withPermissions(team, permissions) !== null,
    )) {
      const done = await stores.teams.change(id, (team) => {
        const memberPermissions = withPermissions(team, permissions);
        return memberPermissions === null ? team : patchedTeam(team, { memberPermissions }, authorship);
      });
      if (done === null || done.before === done.after) continue;
      ownedKeys.evictOwner({ kind: 'teamId', id });
      changed += 1;
    }
    return changed;
  },
});
