import { addTeamPermissions, type AddedPermissions } from '../resolvers/team-permissions.ts';
import { TEAM_PERMISSIONS } from '../src/domain/teams/permissions.ts';
import { fields, flag, listOf, oneOf, required, texts } from './helpers/http/body-fields.ts';
import { withIgnoredHeader } from './helpers/http/ignored-members.ts';
import { json, route, type RouteRow } from './helpers/http/route.ts';
import { MANAGEMENT_CHANGE } from './helpers/http/row-facts.ts';

const readAdded = fields({
  permissions: required(listOf(oneOf(TEAM_PERMISSIONS))),
  team_ids: texts,
  apply_to_all_teams: flag,
});

function parseAdded(body: Uint8Array): AddedPermissions {
  const { permissions, team_ids: teamIds, apply_to_all_teams: allTeams } = readAdded(body);
  return { permissions: permissions ?? [], teamIds, allTeams: allTeams ?? false };
}

function renderAdded(teamCount: number, { permissions }: AddedPermissions) {
  const isEmpty = permissions.length === 0;
  return {
    message: isEmpty ? 'No permissions provided' : 'Team permissions updated successfully',
    teams_updated: teamCount,
    permissions_appended: isEmpty ? null : permissions,
  };
}

/** Permissions of the members of several teams. */
export const teamPermissionRoutes: readonly RouteRow[] = withIgnoredHeader([
  route({
    ...MANAGEMENT_CHANGE,
    failureForm: { body: 'detail' },
    name: 'teamPermissions.add',
    bodySchema: readAdded.schema,
    paths: ['/team/permissions_bulk_update'],
    statuses: [200, 400, 401, 403, 404, 422],
    parse: ({ body }) => parseAdded(body),
    run: addTeamPermissions,
    render: (teamCount, { body }) => json(renderAdded(teamCount, parseAdded(body))),
  }),
]);
