import { nullIfBlank } from '../../src/domain/optional-text.ts';
import type { OrganizationMember } from '../../src/domain/organizations/organization.ts';
import type { TeamMember } from '../../src/domain/teams/member.ts';
import type { Team } from '../../src/domain/teams/team.ts';
import { isAnyAdmin } from './access.ts';
import type { Scope } from './scope.ts';

/** Part of a scope that reads of owners need. */
export type OwnerScope = Pick<Scope, 'caller' | 'loaders'>;

/** Memberships of the caller's user in teams. */
async function ownTeamMemberships({ caller, loaders }: OwnerScope): Promise<readonly TeamMember[]> {
  const user = nullIfBlank(caller?.userId);
  return user === null ? [] : loaders.owners.teamMembershipsOfUser.load(user);
}

async function ownOrganizationMemberships({ caller, loaders }: OwnerScope): Promise<readonly OrganizationMember[]> {
  const user = nullIfBlank(caller?.userId);
  return user === null ? [] : loaders.owners.organizationMembershipsOfUser.load(user);
}

/**
 * Whether a caller sees a team: an administrator, a key of the team, a member, or an administrator of its
 * organization.
 */
export async function seesTeam(
  scope: OwnerScope,
  { id, organizationId }: Pick<Team, 'id' | 'organizationId'>,
): Promise<boolean> {
  const { caller } = scope;
  if (caller === null) return false;
  if (isAnyAdmin(caller) || nullIfBlank(caller.teamId) === id) return true;
  if ((await ownTeamMemberships(scope)).some(({ teamId }) => teamId === id)) return true;
  return organizationId !== null && (await administeredOrganizations(scope)).includes(organizationId);
}

/** Ids of the organizations that the caller's user administers. */
async function administeredOrganizations(scope: OwnerScope): Promise<readonly string[]> {
  const administered = (await ownOrganizationMemberships(scope)).filter(({ role }) => role === 'org_admin');
  return administered.map(({ organizationId }) => organizationId);
}

/** Ids of the teams that the caller sees; null for all. */
export async function visibleTeamIds(scope: OwnerScope): Promise<readonly string[] | null> {
  const { caller } = scope;
  if (caller !== null && isAnyAdmin(caller)) return null;
  const own = nullIfBlank(caller?.teamId);
  const joined = (await ownTeamMemberships(scope)).map(({ teamId }) => teamId);
  const { teamsOfOrganization } = scope.loaders.owners;
  const administered = await Promise.all(
    (await administeredOrganizations(scope)).map((id) => teamsOfOrganization.load(id)),
  );
  return [...new Set([...(own === null ? [] : [own]), ...joined, ...administered.flat().map(({ id }) => id)])];
}

/** Ids of the organizations that the caller sees; null for all. */
export async function visibleOrganizationIds(scope: OwnerScope): Promise<readonly string[] | null> {
  const { caller } = scope;
  if (caller !== null && isAnyAdmin(caller)) return null;
  return (await ownOrganizationMemberships(scope)).map(({ organizationId }) => organizationId);
}
