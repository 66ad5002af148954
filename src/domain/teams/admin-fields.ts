import { sameValue } from '../catalog/same-value.ts';
import { adminOnlyMetadataOfTeamPatch } from '../keys/granting-members.ts';
import type { Team, TeamPatch } from './team.ts';

/** Settings of a team that its administrators may change. */
const TEAM_ADMIN_FIELDS = new Set([
  'alias',
  'metadata',
  'metadataMembers',
  'memberPermissions',
  'modelAliases',
  'routerSettings',
]);

const GROUPS = 'routing_groups';

/** Whether a patch sets routing groups. Calls of a group count in limits of its name, not in those of its models. */
function setsGroups({ routerSettings: before }: Team, { routerSettings: sent }: TeamPatch): boolean {
  const groups = sent?.[GROUPS] ?? null;
  return groups !== null && !sameValue(groups, before[GROUPS] ?? null);
}

/** Whether only proxy administrators may make a change of a team. */
export const needsProxyAdmin = (team: Team, patch: TeamPatch): boolean =>
  Object.keys(patch).some((field) => !TEAM_ADMIN_FIELDS.has(field)) ||
  adminOnlyMetadataOfTeamPatch(team.metadata, patch) !== null ||
  setsGroups(team, patch);
