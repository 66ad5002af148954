import { type BudgetPatch, newBudget, copyOfSharedBudget, patchedBudget } from '../src/domain/budgets/budget.ts';
import { setsLimits } from '../src/domain/budgets/limits.ts';
import { Forbidden, InvalidInput, NotFound } from '../src/domain/errors.ts';
import { type Usd, ZERO_USD } from '../src/domain/money.ts';
import { isSwitchedOn } from '../src/domain/settings/switches.ts';
import { nullIfBlank } from '../src/domain/optional-text.ts';
import type { MemberRole, TeamMember } from '../src/domain/teams/member.ts';
import type { Team } from '../src/domain/teams/team.ts';
import type { User } from '../src/domain/users/user.ts';
import { teamReader } from './operation/access.ts';
import { authored } from './operation/authored.ts';
import { userIdOf, type UserName } from './operation/named-users.ts';
import { callerOf, operation } from './operation/operation.ts';
import { resultOf } from './operation/change-result.ts';
import { changeWithBudget } from './operation/owned-budgets.ts';
import { memberManager } from './operation/owner-access.ts';
import type { TeamPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import { assertReset, smallerSpend } from './operation/window-spend.ts';
import { addMembers, type WantedMember } from './operation/team-joining.ts';
import { type UserView, userViews } from './operation/user-views.ts';
import {
  administersOrganization,
  managedTeamForMembers,
  type MemberView,
  readableTeam,
  type TeamView,
  teamView,
  unknownTeam,
} from './operation/team-views.ts';
import { removeKeys } from './operation/key-removal.ts';

/** A team after users have joined it. */
export interface JoinedTeam extends TeamView {
  readonly users: readonly UserView[];
  readonly added: readonly MemberView[];
}

/**
 * Whether the caller adds only its own user to an available team, as a member with neither administrator rights nor
 * limits of its own.
 */
function isSelfJoin(scope: Scope<TeamPlatform>, teamId: string, members: readonly WantedMember[]): boolean {
  const user = nullIfBlank(callerOf(scope).userId);
  const [member, ...others] = members;
  return (
    user !== null &&
    member?.userId === user &&
    member.role === 'user' &&
    Object.keys(member.limits).length === 0 &&
    others.length === 0 &&
    scope.platform.availableTeams.includes(teamId)
  );
}

/** A team by its id, without a check of access. Throws NotFound. */
async function storedTeam({ platform }: Scope<TeamPlatform>, id: string): Promise<Team> {
  const team = await platform.stores.teams.find(id);
  if (team === null) throw unknownTeam(id);
  return team;
}

/**
 * Adds users to a team; users that do not exist are created. Users may add themselves to an available team. Throws
 * NotFound for the team, Conflict when a user is a member already, InvalidInput and Forbidden.
 */
export const addTeamMembers = operation({
  name: 'addTeamMembers',
  access: memberManager,
  async run(
    scope: Scope<TeamPlatform>,
    { teamId, members }: { readonly teamId: string; readonly members: readonly WantedMember[] },
  ): Promise<JoinedTeam> {
    const team = isSelfJoin(scope, teamId, members)
      ? await storedTeam(scope, teamId)
      : await managedTeamForMembers(scope, teamId);
    const { users, members: rows } = await addMembers(scope, team, members);
    const view = await teamView(scope, team);
    const addedIds = new Set(rows.map(({ id }) => id));
    return {
      ...view,
      users: await userViews(scope, users),
      added: view.members.filter(({ member }) => addedIds.has(member.id)),
    };
  },
});

/** The outcome for one user among several: the member, or why the user did not join. */
export interface JoinOutcome {
  readonly wanted: WantedMember;
  readonly user: User | null;
  readonly member: MemberView | null;
  readonly failure: string | null;
}

/**
 * Adds users in order. A DomainError for one user does not stop the others. Throws NotFound for the team, and
 * Forbidden.
 */
export const addManyTeamMembers = operation({
  name: 'addManyTeamMembers',
  access: memberManager,
  async run(
    scope: Scope<TeamPlatform>,
    { teamId, members }: { readonly teamId: string; readonly members: readonly WantedMember[] },
  ): Promise<{ readonly view: TeamView; readonly outcomes: readonly JoinOutcome[] }> {
    const team = await managedTeamForMembers(scope, teamId);
    const outcomes: JoinOutcome[] = [];
    for (const wanted of members) {
      const { value, failure } = await resultOf(() => addTeamMembers(scope, { teamId, members: [wanted] }));
      outcomes.push({ wanted, user: value?.users[0]?.user ?? null, member: value?.added[0] ?? null, failure });
    }
    return { view: await teamView(scope, team), outcomes };
  },
});

/** A member of a team by the id or the email of its user. */
export interface NamedMember extends UserName {
  readonly teamId: string;
}

/** The member; null when the user is not in the team. Throws InvalidInput when both id and email are missing. */
async function memberOf({ platform }: Scope<TeamPlatform>, team: Team, named: NamedMember): Promise<TeamMember | null> {
  const { stores } = platform;
  const userId = await userIdOf(stores, named);
  if (userId === null) return null;
  return (await stores.teamMembers.all({ teamIds: [team.id], userIds: [userId] }))[0] ?? null;
}

const unknownMember = (teamId: string, userId: string): NotFound =>
  new NotFound('member', userId, `User ${userId} is not a member of team ${teamId}.`);

const notAMember = ({ teamId, userId, email }: NamedMember): InvalidInput =>
  new InvalidInput(`User ${userId ?? email} is not a member of team ${teamId}.`);

/**
 * Changes the own budget of a member, or creates one. `current` is its id before. Returns its id; null for a member
 * without an own budget.
 */
async function savedBudgetOfMember(
  scope: Scope<TeamPlatform>,
  { memberBudgetId }: Team,
  patch: BudgetPatch,
  current: string | null,
): Promise<string | null> {
  const { stores, ids } = scope.platform;
  const authorship = authored(scope);
  if (Object.keys(patch).length === 0) return current;
  const done =
    current === null
      ? null
      : await stores.budgets.change(current, (budget) => patchedBudget(budget, patch, authorship));
  if (done !== null) return done.after.id;
  if (!setsLimits(patch)) return null;
  // A temporary increase for a member without an own budget raises a copy of the team's default budget.
  const isIncrease = patch.tempBudgetIncrease !== undefined && patch.tempBudgetIncrease !== null;
  const shared = isIncrease && memberBudgetId !== null ? await stores.budgets.find(memberBudgetId) : null;
  const identity = { ...authorship, id: ids.uuid() };
  const budget = shared === null ? newBudget(patch, identity) : copyOfSharedBudget(shared, patch, identity);
  await stores.budgets.add(budget);
  return budget.id;
}

/**
 * Changes the role and the limits of a member. Throws NotFound for the team, InvalidInput for the member, and
 * Forbidden.
 */
export const updateTeamMember = operation({
  name: 'updateTeamMember',
  access: memberManager,
  async run(
    scope: Scope<TeamPlatform>,
    {
      named,
      role,
      limits,
    }: { readonly named: NamedMember; readonly role: MemberRole | null; readonly limits: BudgetPatch },
  ): Promise<MemberView> {
    const { stores, ownedKeys } = scope.platform;
    const authorship = authored(scope);
    const team = await managedTeamForMembers(scope, named.teamId);
    const member = await memberOf(scope, team, named);
    if (member === null) throw notAMember(named);
    const done = await changeWithBudget(scope, stores.teamMembers, member, {
      wanted: { budgetId: null, limits },
      budgetOf: ({ budgetId }) => budgetId,
      save: (budgetId) => savedBudgetOfMember(scope, team, limits, budgetId),
      change: (row, budgetId) => ({
        ...row,
        role: role ?? row.role,
        budgetId,
        updatedAt: authorship.now,
        updatedBy: authorship.by,
      }),
    });
    if (done === null) throw notAMember(named);
    ownedKeys.evictOwner({ kind: 'userId', id: member.userId });
    return viewOf(scope, team, done.after);
  },
});

/** A member after its spend was set, and its spend before. */
export interface MemberReset {
  readonly view: MemberView;
  readonly before: Usd;
}

/**
 * Sets the spend of a member to an amount between zero and its current spend. The budget of the member counts from this
 * amount. Reports keep the calls. Throws NotFound, InvalidInput, and Forbidden, also for the spend of the caller's own
 * user.
 */
export const resetMemberSpend = operation({
  name: 'resetMemberSpend',
  access: memberManager,
  async run(
    scope: Scope<TeamPlatform>,
    { teamId, userId, resetTo }: { readonly teamId: string; readonly userId: string; readonly resetTo: Usd },
  ): Promise<MemberReset> {
    const { stores, ownedKeys } = scope.platform;
    if (nullIfBlank(userId) !== null && callerOf(scope).userId === userId)
      throw new Forbidden('You cannot reset your own spend.');
    const authorship = authored(scope);
    const team = await managedTeamForMembers(scope, teamId);
    const [member] = await stores.teamMembers.all({ teamIds: [teamId], userIds: [userId] });
    if (member === undefined) throw unknownMember(teamId, userId);
    const { spend, total } = await viewOf(scope, team, member);
    let before = spend;
    const done = await stores.teamMembers.change(member.id, (row) => {
      before = smallerSpend((total - (row.spentBefore ?? ZERO_USD)) as Usd, spend);
      assertReset(resetTo, before);
      return { ...row, spentBefore: (total - resetTo) as Usd, updatedAt: authorship.now, updatedBy: authorship.by };
    });
    if (done === null) throw unknownMember(teamId, userId);
    ownedKeys.evictOwner({ kind: 'userId', id: userId });
    return { view: await viewOf(scope, team, done.after), before };
  },
});

/** A member with its user, budget and spend. Throws InvalidInput when it is no longer in the team. */
async function viewOf(scope: Scope<TeamPlatform>, team: Team, { id, userId }: TeamMember): Promise<MemberView> {
  const view = (await teamView(scope, team)).members.find(({ member }) => member.id === id);
  if (view === undefined) throw notAMember({ teamId: team.id, userId, email: null });
  return view;
}

/**
 * Throws Forbidden when the settings do not let team administrators remove members. Proxy administrators and
 * administrators of the organization may always remove them.
 */
async function assertMayRemove(scope: Scope<TeamPlatform>, team: Team): Promise<void> {
  if (!isSwitchedOn(scope.platform.configuration, 'disable_team_admin_delete_team_user')) return;
  const caller = callerOf(scope);
  if (caller.role === 'proxy_admin' || (await administersOrganization(scope, caller, team.organizationId))) return;
  throw new Forbidden('Removing members is disabled for team administrators by your administrator.', 'team_member');
}

/**
 * Removes a user from a team, and deletes the user's keys of this team except sessions. Throws NotFound, InvalidInput
 * and Forbidden.
 */
export const removeTeamMember = operation({
  name: 'removeTeamMember',
  access: memberManager,
  async run(scope: Scope<TeamPlatform>, named: NamedMember): Promise<TeamView> {
    const { stores, ownedKeys } = scope.platform;
    const team = await managedTeamForMembers(scope, named.teamId);
    await assertMayRemove(scope, team);
    const member = await memberOf(scope, team, named);
    if (member === null) throw notAMember(named);
    await stores.teamMembers.remove([member.id]);
    const keys = await stores.keys.findOwned('userId', [member.userId]);
    // Sessions are not deleted: their calls are refused with the reason.
    const teamKeys = keys.filter(({ teamId, settings }) => teamId === team.id && settings.session === undefined);
    await removeKeys(
      scope,
      teamKeys.map(({ hash }) => hash),
    );
    ownedKeys.evictOwner({ kind: 'userId', id: member.userId });
    return teamView(scope, team);
  },
});

/** A membership of the caller's user, with the name of the team. */
export interface OwnMembership extends MemberView {
  readonly teamAlias: string | null;
}

/** Reads the membership of the caller's user in a team. Throws NotFound and Forbidden. */
export const getOwnMembership = operation({
  name: 'getOwnMembership',
  access: teamReader,
  async run(scope: Scope<TeamPlatform>, { teamId }: { readonly teamId: string }): Promise<OwnMembership> {
    const team = await readableTeam(scope, teamId);
    const userId = nullIfBlank(callerOf(scope).userId);
    if (userId === null) throw new Forbidden('The key has no user, so it is not a member of a team.', 'team_member');
    const [member] = await scope.platform.stores.teamMembers.all({ teamIds: [teamId], userIds: [userId] });
    if (member === undefined) throw unknownMember(teamId, userId);
    return { ...(await viewOf(scope, team, member)), teamAlias: team.alias };
  },
});
