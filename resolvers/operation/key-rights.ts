import { Forbidden, InvalidInput } from '../../src/domain/errors.ts';
import { keyOwnerRefusal } from '../../src/domain/keys/key-owner-refusal.ts';
import {
  assertUnbounded,
  boundedDraft,
  boundedPatch,
  hasMoreRights,
  hasStrongerRole,
} from '../../src/domain/keys/key-bounds.ts';
import { assertMayCreate } from '../../src/domain/keys/generation-rules.ts';
import type { KeyPatch } from '../../src/domain/keys/key-change.ts';
import type { KeyDraft } from '../../src/domain/keys/key-draft.ts';
import type { VirtualKey } from '../../src/domain/keys/virtual-key.ts';
import { nullIfBlank } from '../../src/domain/optional-text.ts';
import type { TeamMember } from '../../src/domain/teams/member.ts';
import { isPermitted, type KeyPermission, NotPermitted } from '../../src/domain/teams/permissions.ts';
import type { Team } from '../../src/domain/teams/team.ts';
import { isAnyAdmin } from './access.ts';
import { callerOf } from './operation.ts';
import type { KeyPlatform } from './platform.ts';
import type { Scope } from './scope.ts';

type KeyScope = Scope<KeyPlatform>;

/** Role of the caller's user in a team. */
interface Standing {
  readonly team: Team | null;
  readonly member: TeamMember | null;
  /** Whether the user administers the team or its organization. */
  readonly isManager: boolean;
}

async function standingIn(scope: KeyScope, teamId: string): Promise<Standing> {
  const { teams, teamMembers, organizationMembers } = scope.platform.stores;
  const user = nullIfBlank(callerOf(scope).userId);
  const team = await teams.find(teamId);
  if (user === null || team === null) return { team, member: null, isManager: false };
  const [member = null] = await teamMembers.all({ teamIds: [teamId], userIds: [user] });
  if (member?.role === 'admin') return { team, member, isManager: true };
  const inOrganization =
    team.organizationId === null
      ? []
      : await organizationMembers.all({ organizationIds: [team.organizationId], userIds: [user] });
  return { team, member, isManager: inOrganization.some(({ role }) => role === 'org_admin') };
}

/** Error for a caller that may not call a route for a key. A `KeyPermission` is the path of a REST route. */
function refusalOf(scope: KeyScope, route: KeyPermission): Forbidden {
  const { role, userId } = callerOf(scope);
  if (route === '/key/delete') return keyOwnerRefusal('You are not authorized to delete this key');
  const isBlock = route === '/key/block' || route === '/key/unblock';
  return new Forbidden(
    `Only proxy admins, team admins, or org admins can call ${route}. user_role=${role}, user_id=${userId}`,
    isBlock ? 'key_block' : 'key_admin',
  );
}

/** Routes that users may call for their own keys of a team, also without a permission of the team. */
const OWN_TEAM_KEY_ROUTES = new Set<KeyPermission>(['/key/delete']);
/** Routes that users may call for their own keys without a team. */
const OWN_PERSONAL_KEY_ROUTES = new Set<KeyPermission>(['/key/delete', '/key/regenerate']);

interface KeyRight {
  /** Whether the caller has the right as an administrator of team, organization or proxy, and not as the owner. */
  readonly isManager: boolean;
}

/**
 * Checks that the caller may call a route for a key. `row` is null for an unknown key. Then callers other than proxy
 * administrators get the error for a key of another owner, so that they cannot probe for keys.
 */
export async function assertManages(scope: KeyScope, row: VirtualKey | null, route: KeyPermission): Promise<KeyRight> {
  const caller = callerOf(scope);
  if (caller.role === 'proxy_admin') return { isManager: true };
  if (row === null || hasStrongerRole(row, caller)) throw refusalOf(scope, route);
  const isOwn = nullIfBlank(caller.userId) !== null && row.userId === caller.userId;
  const ownKeyRoutes = row.teamId === null ? OWN_PERSONAL_KEY_ROUTES : OWN_TEAM_KEY_ROUTES;
  if (isOwn && ownKeyRoutes.has(route)) return { isManager: false };
  if (row.teamId === null) throw refusalOf(scope, route);
  // A key of a team may manage keys of that team only.
  const ownTeam = nullIfBlank(caller.teamId);
  if (ownTeam !== null && ownTeam !== row.teamId) throw refusalOf(scope, route);
  const { team, member, isManager } = await standingIn(scope, row.teamId);
  if (isManager) return { isManager };
  if (team === null || member === null || !isOwn) throw refusalOf(scope, route);
  if (!isPermitted(team, route)) throw new NotPermitted(team, route);
  return { isManager: false };
}

/**
 * Limits a requested change of a key to the caller's rights. `row` is the key as it is stored when the change is made.
 * Throws Forbidden.
 */
type BoundPatch = (row: VirtualKey) => KeyPatch;

/** Returns the function that limits a change of a key to the rights of the caller. Throws Forbidden. */
export async function allowedPatch(scope: KeyScope, row: VirtualKey | null, patch: KeyPatch): Promise<BoundPatch> {
  const caller = callerOf(scope);
  const { isManager } = await assertManages(scope, row, '/key/update');
  if (row === null || caller.role === 'proxy_admin') return () => patch;
  const now = scope.platform.clock.now();
  return (stored) => {
    // The rights were checked for the team and the user of `row`, so they are unknown for others.
    if (stored.teamId !== row.teamId || stored.userId !== row.userId) throw refusalOf(scope, '/key/update');
    return boundedPatch(caller, stored, { patch, isManager, now });
  };
}

/** As `allowedPatch`, for a change that also replaces the secret of the key. */
export async function allowedRotation(scope: KeyScope, row: VirtualKey | null, patch: KeyPatch): Promise<BoundPatch> {
  const caller = callerOf(scope);
  await assertManages(scope, row, '/key/regenerate');
  if (row === null || caller.role === 'proxy_admin') return () => patch;
  const allowed = isEmptyPatch(patch) ? () => ({}) : await allowedPatch(scope, row, patch);
  return (stored) => {
    if (stored.teamId !== row.teamId || stored.userId !== row.userId) throw refusalOf(scope, '/key/regenerate');
    // A key with bounds (limits, another team, an expiry) could evade them with the secret of another key.
    if (stored.hash !== caller.keyHash) assertUnbounded(caller, stored.teamId);
    if (hasMoreRights(stored, caller))
      throw keyOwnerRefusal('You are not allowed to get the secret of a key with more rights than your own.');
    return allowed(stored);
  };
}

const isEmptyPatch = ({ settings = {}, metadataMembers = {}, ...fields }: KeyPatch): boolean =>
  [settings, metadataMembers, fields].every((part) => Object.keys(part).length === 0);

/**
 * The user of a new key: the caller's own user. A manager of the key's team may name another member of the team. Throws
 * InvalidInput and Forbidden.
 */
async function userOfDraft(scope: KeyScope, draft: KeyDraft, isManager: boolean): Promise<string> {
  const own = callerOf(scope).userId ?? '';
  const userId = nullIfBlank(draft.userId) ?? own;
  if (userId === own) return own;
  const teamId = nullIfBlank(draft.teamId);
  if (!isManager || teamId === null) throw foreignUser(scope, userId);
  const members = await scope.platform.stores.teamMembers.all({ teamIds: [teamId], userIds: [userId] });
  if (members.length === 0) throw new InvalidInput(`User=${userId} not assigned to team=${teamId}`);
  return userId;
}

const foreignUser = (scope: KeyScope, userId: string): Forbidden =>
  keyOwnerRefusal(`User can only create keys for themselves. Got user_id=${userId}, Your ID=${callerOf(scope).userId}`);

const unknownTeamOf = (teamId: string): InvalidInput =>
  new InvalidInput(`Unable to find team object in database. Team ID: ${teamId}`);

/** Whether a member has limits in a team. These limits would not apply to a service account of the team. */
async function isLimited({ platform }: KeyScope, team: Team, { budgetId }: TeamMember): Promise<boolean> {
  const id = budgetId ?? team.memberBudgetId;
  return id !== null && (await platform.stores.budgets.find(id)) !== null;
}

/**
 * The draft that the caller has the right to create. `sent` is the draft before defaults were added. `route`
 * distinguishes a key of a user from a service account of a team. Throws Forbidden and InvalidInput.
 */
export async function allowedDraft(
  scope: KeyScope,
  draft: KeyDraft,
  { sent, route }: { readonly sent: KeyDraft; readonly route: '/key/generate' | '/key/service-account/generate' },
): Promise<KeyDraft> {
  const caller = callerOf(scope);
  const { keyRules } = scope.platform;
  const teamId = nullIfBlank(draft.teamId);
  if (caller.role === 'proxy_admin') {
    // As in the reference, an administrator may name an unknown team, unless `key_generation_settings` is set.
    if (keyRules.refusesUnknownTeams && teamId !== null && (await scope.platform.stores.teams.find(teamId)) === null)
      throw unknownTeamOf(teamId);
    assertMayCreate({ caller, memberRole: null, sent }, draft, keyRules);
    return draft;
  }
  if (teamId === null) {
    assertMayCreate({ caller, memberRole: null, sent }, draft, keyRules);
    const userId = await userOfDraft(scope, draft, false);
    return boundedDraft({ caller, userId, isManager: false }, draft);
  }
  const { team, member, isManager } = await standingIn(scope, teamId);
  // An unknown team and a team that the user did not join have one error, so that a caller cannot probe for team ids.
  if (team === null || (!isManager && member === null))
    throw new InvalidInput(`User=${caller.userId} not assigned to team=${teamId}`);
  if (!isManager && !isPermitted(team, route)) throw new NotPermitted(team, route);
  assertMayCreate({ caller, memberRole: member?.role ?? null, sent }, draft, keyRules);
  const isService = route === '/key/service-account/generate';
  if (isService && !isManager && member !== null && (await isLimited(scope, team, member)))
    throw keyOwnerRefusal('A member with limits in a team cannot create service account keys of the team.');
  const userId = isService ? null : await userOfDraft(scope, draft, isManager);
  return boundedDraft({ caller, userId, isManager }, draft);
}

/**
 * Whether the caller may read a key. Administrators may read all keys. Other callers may read their own key and the
 * keys of their user. They may read the keys of a team that the user administers, directly or as an administrator of
 * its organization. Members of a team with the permission `/key/info` may read its keys. A key of a team reads no keys
 * of other teams, except those of its user.
 */
export async function mayRead(scope: KeyScope, row: VirtualKey | null): Promise<boolean> {
  const caller = callerOf(scope);
  if (isAnyAdmin(caller) || row?.hash === caller.keyHash) return true;
  const user = nullIfBlank(caller.userId);
  if (row === null || user === null) return false;
  if (row.userId === user) return true;
  const ownTeam = nullIfBlank(caller.teamId);
  if (row.teamId === null || (ownTeam !== null && ownTeam !== row.teamId)) return false;
  const { team, member, isManager } = await standingIn(scope, row.teamId);
  return isManager || (team !== null && member !== null && isPermitted(team, '/key/info'));
}

/**
 * Ids of the teams whose keys the caller's user may list. Empty for callers without a user, and for administrators, who
 * see all keys.
 */
export async function visibleTeams(scope: KeyScope): Promise<readonly string[]> {
  const caller = callerOf(scope);
  const user = nullIfBlank(caller.userId);
  if (user === null || isAnyAdmin(caller)) return [];
  const { teams, teamMembers, organizationMembers } = scope.platform.stores;
  const [members, organizations] = await Promise.all([
    teamMembers.all({ teamIds: null, userIds: [user] }),
    organizationMembers.all({ organizationIds: null, userIds: [user] }),
  ]);
  const joined = await teams.findMany(members.map(({ teamId }) => teamId));
  const administeredIds = new Set(members.filter(({ role }) => role === 'admin').map(({ teamId }) => teamId));
  const listable = joined.filter((team) => administeredIds.has(team.id) || isPermitted(team, '/key/list'));
  const administered = organizations.filter(({ role }) => role === 'org_admin');
  const organizationTeams = await Promise.all(
    administered.map(({ organizationId }) => teams.all({ ids: null, organizationId, aliasPart: null })),
  );
  const ids = [...new Set([...listable, ...organizationTeams.flat()].map(({ id }) => id))];
  // A key of a team sees keys of that team only.
  const ownTeam = nullIfBlank(caller.teamId);
  return ownTeam === null ? ids : ids.filter((id) => id === ownTeam);
}
