import { teamOfInfo } from '../src/domain/deployments/team-models.ts';
import { InvalidInput } from '../src/domain/errors.ts';
import { deleteKeys } from './keys.ts';
import { tenantAdmin } from './operation/access.ts';
import type { TeamModelPlatform } from './operation/model-platform.ts';
import { operation } from './operation/operation.ts';
import type { TeamPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import { unknownTeam } from './operation/team-views.ts';

/** Deletes the models of teams, so that a later team with the same id does not get them and their credentials. */
async function removeTeamModels({ platform }: Scope<TeamModelPlatform>, teamIds: readonly string[]): Promise<void> {
  const stored = await platform.stores.deployments.all({ ids: null });
  const own = stored.filter(({ info }) => teamIds.includes(teamOfInfo(info) ?? ''));
  if (own.length === 0) return;
  await platform.stores.deployments.remove(own.map(({ id }) => id));
  await platform.deployments.reload();
}

/**
 * Deletes teams that have no projects, with their keys, memberships and models. Throws NotFound and InvalidInput before
 * any is deleted.
 */
export const deleteTeams = operation({
  name: 'deleteTeams',
  access: tenantAdmin,
  async run(scope: Scope<TeamPlatform & TeamModelPlatform>, ids: readonly string[]): Promise<readonly string[]> {
    const { stores, ownedKeys } = scope.platform;
    const known = new Set((await stores.teams.findMany(ids)).map(({ id }) => id));
    const missing = ids.find((id) => !known.has(id));
    if (missing !== undefined) throw unknownTeam(missing);
    const withProjects = new Set((await stores.projects.all({ teamIds: ids })).map(({ teamId }) => teamId));
    const used = ids.find((id) => withProjects.has(id));
    if (used !== undefined) throw new InvalidInput(`Team ${used} has projects. Delete or move them first.`);
    const keys = await stores.keys.findOwned('teamId', ids);
    if (keys.length > 0) await deleteKeys(scope, { keys: keys.map(({ hash }) => hash), aliases: [] });
    await removeTeamModels(scope, ids);
    const members = await stores.teamMembers.all({ teamIds: ids, userIds: null });
    await stores.teamMembers.remove(members.map(({ id }) => id));
    const removed = await stores.teams.remove(ids);
    for (const { id } of removed) ownedKeys.evictOwner({ kind: 'teamId', id });
    return removed.map(({ id }) => id);
  },
});
