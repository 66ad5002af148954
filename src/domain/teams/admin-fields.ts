import { sameValue } from '../catalog/same-value.ts';
import { adminOnlyMetadataOfTeamPatch } from '../keys/granting-members.ts';
import type { Team, TeamPatch } from './team.ts';

/** Settings of a team that the administrators of the team may change. */
const TEAM_ADMIN_FIELDS = new Set([
  'alias',
  'metadata',
  'metadataMembers',
  'memberPermissions',
  'modelAliases',
  'routerSettings',
]);

const GROUPS = 'routing_groups';

/**
 * Whether a patch sets other routing groups than the stored ones; false when it removes them. A call of a group counts
 * in the limits of the group, not in those of its models. So a new group could bypass the limits of a model.
 */
function setsOtherGroups({ routerSettings: before }: Team, { routerSettings: sent }: TeamPatch): boolean {
  const groups = sent?.[GROUPS] ?? null;
  return groups !== null && !sameValue(groups, before[GROUPS] ?? null);
}

/** Whether a change of a team needs a proxy administrator. Administrators of the team may make other changes. */
export const needsProxyAdmin = (team: Team, patch: TeamPatch): boolean =>
  Object.keys(patch).some((field) => !TEAM_ADMIN_FIELDS.has(field)) ||
  adminOnlyMetadataOfTeamPatch(team.metadata, patch) !== null ||
  setsOtherGroups(team, patch);
