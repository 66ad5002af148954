import { memberId } from '../../src/domain/admission/counters.ts';
import type { Budget } from '../../src/domain/budgets/budget.ts';
import type { Caller } from '../../src/domain/caller.ts';
import { Forbidden, NotFound } from '../../src/domain/errors.ts';
import { type Usd, ZERO_USD } from '../../src/domain/money.ts';
import { nullIfBlank } from '../../src/domain/optional-text.ts';
import type { TeamMember } from '../../src/domain/teams/member.ts';
import type { Team } from '../../src/domain/teams/team.ts';
import type { User } from '../../src/domain/users/user.ts';
import { type KeyInfo, keyInfos } from './key-lookup.ts';
import { isAnyAdmin, refuseManagement } from './access.ts';
import { callerOf } from './operation.ts';
import { refuseMembers } from './owner-access.ts';
import type { TeamPlatform } from './platform.ts';
import type { Scope } from './scope.ts';
import { type CountedSpend, countedSpends, smallerSpend } from './window-spend.ts';
import { windowSpendOf } from './user-views.ts';

/** A member with its user and its budget. */
export interface MemberView {
  readonly member: TeamMember;
  /** Null when the user row does not exist. */
  readonly user: User | null;
  /** The member's own budget, or the default of the team; null without both. */
  readonly budget: Budget | null;
  /**
   * Spend of the user's keys of this team, deleted keys included. Counted from the start of the budget window or from
   * the last reset of the spend, whichever is later.
   */
  readonly spend: Usd;
  /** Spend of these keys of all time. */
  readonly total: Usd;
}

/** A team with its members, their default budget, its keys and its spend. */
export interface TeamView {
  readonly team: Team;
  readonly members: readonly MemberView[];
  readonly memberBudget: Budget | null;
  readonly keys: readonly KeyInfo[];
  /** Spend of the team's keys in the budget window, deleted keys included. The budget of the team limits it. */
  readonly spend: Usd;
}

/** A team in a page of teams, without budgets and keys. */
export interface CountedTeam extends Pick<TeamView, 'team' | 'spend'> {
  readonly members: readonly Pick<MemberView, 'member' | 'user'>[];
  readonly keyCount: number;
}

export const unknownTeam = (id: string): NotFound => new NotFound('team', id, `Team not found, passed team_id=${id}`);

/** Teams with their members and the number of their keys: four statements for any number of teams, members and keys. */
export async function countedTeams(
  scope: Scope<TeamPlatform>,
  teams: readonly Team[],
): Promise<readonly CountedTeam[]> {
  if (teams.length === 0) return [];
  const { stores } = scope.platform;
  const ids = teams.map(({ id }) => id);
  const [members, keyCounts, totals] = await Promise.all([
    stores.teamMembers.all({ teamIds: ids, userIds: null }),
    stores.keys.countOwned('teamId', ids),
    stores.spend.totalsOfOwners('team', ids),
  ]);
  const users = await stores.users.findMany([...new Set(members.map(({ userId }) => userId))]);
  const userById = new Map(users.map((user) => [user.id, user]));
  const membersByTeam = Map.groupBy(members, ({ teamId }) => teamId);
  return teams.map((team) => ({
    team,
    members: (membersByTeam.get(team.id) ?? []).map((member) => ({
      member,
      user: userById.get(member.userId) ?? null,
    })),
    keyCount: keyCounts.get(team.id) ?? 0,
    spend: windowSpendOf(team, totals),
  }));
}

/** The spend of a member: in the window of its budget, or since its spend was reset, if that is later. */
const spendOfMember = ({ spentBefore }: TeamMember, { spend, total }: CountedSpend): CountedSpend => ({
  spend: smallerSpend((total - (spentBefore ?? ZERO_USD)) as Usd, spend),
  total,
});

/** Teams with their members, budgets and keys: at most ten statements for any number of teams. */
export async function teamViews(scope: Scope<TeamPlatform>, teams: readonly Team[]): Promise<readonly TeamView[]> {
  if (teams.length === 0) return [];
  const { stores } = scope.platform;
  const ids = teams.map(({ id }) => id);
  const [members, rows, totals] = await Promise.all([
    stores.teamMembers.all({ teamIds: ids, userIds: null }),
    stores.keys.findOwned('teamId', ids),
    stores.spend.totalsOfOwners('team', ids),
  ]);
  const budgetIds = [...members.map((one) => one.budgetId), ...teams.map((one) => one.memberBudgetId)];
  const [users, budgets, infos] = await Promise.all([
    stores.users.findMany(members.map(({ userId }) => userId)),
    stores.budgets.findMany(budgetIds.flatMap((id) => id ?? [])),
    keyInfos(scope, rows),
  ]);
  const userById = new Map(users.map((user) => [user.id, user]));
  const budgetById = new Map(budgets.map((budget) => [budget.id, budget]));
  const teamById = new Map(teams.map((team) => [team.id, team]));
  const budgetOf = ({ teamId, budgetId }: TeamMember): Budget | null =>
    budgetById.get(budgetId ?? teamById.get(teamId)?.memberBudgetId ?? '') ?? null;
  const counted = members.map((one) => ({ id: memberId(one.teamId, one.userId), budget: budgetOf(one) }));
  const spentBy = await countedSpends(stores, 'member', { all: counted, now: scope.platform.clock.now() });
  const membersByTeam = Map.groupBy(members, ({ teamId }) => teamId);
  const keysByTeam = Map.groupBy(infos, ({ row }) => row.teamId);
  return teams.map((team) => ({
    team,
    members: (membersByTeam.get(team.id) ?? []).map((member) => ({
      member,
      user: userById.get(member.userId) ?? null,
      budget: budgetOf(member),
      ...spendOfMember(member, spentBy(memberId(member.teamId, member.userId))),
    })),
    memberBudget: budgetById.get(team.memberBudgetId ?? '') ?? null,
    keys: keysByTeam.get(team.id) ?? [],
    spend: windowSpendOf(team, totals),
  }));
}

/** One team with its members, budgets and keys. */
export async function teamView(scope: Scope<TeamPlatform>, team: Team): Promise<TeamView> {
  const [view] = await teamViews(scope, [team]);
  if (view === undefined) throw unknownTeam(team.id);
  return view;
}

/** Whether the caller's user administers an organization. */
export async function administersOrganization(
  { platform }: Scope<TeamPlatform>,
  { userId }: Caller,
  organizationId: string | null,
): Promise<boolean> {
  const user = nullIfBlank(userId);
  if (user === null || organizationId === null) return false;
  const members = await platform.stores.organizationMembers.all({
    organizationIds: [organizationId],
    userIds: [user],
  });
  return members.some(({ role }) => role === 'org_admin');
}

async function membershipOf(scope: Scope<TeamPlatform>, team: Team): Promise<TeamMember | null> {
  const { userId } = callerOf(scope);
  const user = nullIfBlank(userId);
  if (user === null) return null;
  const [member] = await scope.platform.stores.teamMembers.all({ teamIds: [team.id], userIds: [user] });
  return member ?? null;
}

/** A team whose members the caller may change. Throws NotFound, and Forbidden unless the caller administers it. */
export const managedTeamForMembers = (scope: Scope<TeamPlatform>, id: string): Promise<Team> =>
  managedTeam(scope, id, refuseMembers);

/** A team that the caller may change. Throws NotFound, and Forbidden unless the caller administers it. */
export async function managedTeam(
  scope: Scope<TeamPlatform>,
  id: string,
  refusal: (caller: Caller) => Forbidden = refuseManagement,
): Promise<Team> {
  const caller = callerOf(scope);
  const team = await scope.platform.stores.teams.find(id);
  if (caller.role !== 'proxy_admin') {
    const isTeamAdmin = team !== null && (await membershipOf(scope, team))?.role === 'admin';
    if (!isTeamAdmin && !(await administersOrganization(scope, caller, team?.organizationId ?? null)))
      throw refusal(caller);
  }
  if (team === null) throw unknownTeam(id);
  return team;
}

/** Whether the caller may read a team. `team` is its row; null when no team has this id. */
async function mayRead(scope: Scope<TeamPlatform>, id: string, team: Team | null): Promise<boolean> {
  const caller = callerOf(scope);
  if (isAnyAdmin(caller) || caller.teamId === id) return true;
  if (team !== null && (await membershipOf(scope, team)) !== null) return true;
  return administersOrganization(scope, caller, team?.organizationId ?? null);
}

/** Whether the caller may read a team. */
export const mayReadTeam = async (scope: Scope<TeamPlatform>, id: string): Promise<boolean> =>
  mayRead(scope, id, await scope.platform.stores.teams.find(id));

/** A team that the caller may read. Throws NotFound, and Forbidden for other teams. */
export async function readableTeam(scope: Scope<TeamPlatform>, id: string): Promise<Team> {
  const team = await scope.platform.stores.teams.find(id);
  if (!(await mayRead(scope, id, team)))
    throw new Forbidden(`User=${callerOf(scope).userId} not authorized to access this team=${id}`, 'team_member');
  if (team === null) throw unknownTeam(id);
  return team;
}
