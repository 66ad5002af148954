import { type Budget, type BudgetPatch, newBudget } from '../../src/domain/budgets/budget.ts';
import { setsLimits } from '../../src/domain/budgets/limits.ts';
import { Conflict } from '../../src/domain/errors.ts';
import { nullIfBlank } from '../../src/domain/optional-text.ts';
import { startedMembers, startedOwner } from '../../src/domain/owners/started-owner.ts';
import { newStamps } from '../../src/domain/row-store.ts';
import type { MemberRole, TeamMember } from '../../src/domain/teams/member.ts';
import type { Team } from '../../src/domain/teams/team.ts';
import { newUser, type User } from '../../src/domain/users/user.ts';
import { authored } from './authored.ts';
import { callerOf } from './operation.ts';
import { findNamedUser, type UserName } from './named-users.ts';
import { addWithBudgets } from './owned-budgets.ts';
import type { TeamPlatform } from './platform.ts';
import type { Scope } from './scope.ts';

/** A user who is to join a team, by id or by email. */
export interface WantedMember extends UserName {
  readonly role: MemberRole;
  /** Own limits in the team; empty for the defaults of the team. */
  readonly limits: BudgetPatch;
}

/** The user of a wanted member. A user that does not exist is created, as the reference does. */
export async function userNamed(scope: Scope<TeamPlatform>, name: UserName): Promise<User> {
  const { stores, ids } = scope.platform;
  const stored = await findNamedUser(stores, name);
  if (stored !== null) return stored;
  const { userId, email } = name;
  const about = { ...authored(scope), id: nullIfBlank(userId) ?? ids.uuid() };
  const user = await startedOwner(
    scope.platform.earlierSpend,
    'user',
    newUser({ email, role: 'internal_user' }, about),
  );
  try {
    await stores.users.add(user);
    return user;
  } catch (error) {
    // Another request created the user first.
    const other = error instanceof Conflict ? await findNamedUser(stores, name) : null;
    if (other === null) throw error;
    return other;
  }
}

const alreadyMember = ({ id, email }: User): Conflict =>
  new Conflict(`User already in team. Member: user_id=${id}, user_email=${email}`, { field: 'member' });

/** Users who joined a team. */
export interface JoinedUsers {
  readonly users: readonly User[];
  readonly members: readonly TeamMember[];
}

/** A wanted member with its user. */
export interface ResolvedMember extends WantedMember {
  readonly user: User;
}

/**
 * Finds the users of wanted members; users that do not exist are created. Throws Conflict when a user is named twice or
 * `present` contains the id of a user, and InvalidInput for a member without id and email.
 */
export async function resolveMembers(
  scope: Scope<TeamPlatform>,
  wanted: readonly WantedMember[],
  present: readonly string[] = [],
): Promise<readonly ResolvedMember[]> {
  const userIds = new Set(present);
  const resolved: ResolvedMember[] = [];
  for (const one of wanted) {
    const user = await userNamed(scope, one);
    if (userIds.has(user.id)) throw alreadyMember(user);
    userIds.add(user.id);
    resolved.push({ ...one, user });
  }
  return resolved;
}

/**
 * Stores users as members of a team. The users must not be members yet. Their spend in the team starts at zero, except
 * that of the user `keptUserId`, which may have been a member before.
 */
export async function storeMembers(
  scope: Scope<TeamPlatform>,
  team: Team,
  resolved: readonly ResolvedMember[],
  keptUserId: string | null = null,
): Promise<JoinedUsers> {
  const { stores, ids, ownedKeys } = scope.platform;
  const authorship = authored(scope);
  const drafted: TeamMember[] = [];
  const budgets: Budget[] = [];
  for (const [position, { user, role, limits }] of resolved.entries()) {
    const budget = setsLimits(limits) ? newBudget(limits, { ...authorship, id: ids.uuid() }) : null;
    if (budget !== null) budgets.push(budget);
    // Times differ by one ms, so that lists by time keep the order of the members.
    const now = new Date(authorship.now.getTime() + position);
    const stamps = newStamps({ ...authorship, now });
    drafted.push({
      id: ids.uuid(),
      teamId: team.id,
      userId: user.id,
      role,
      budgetId: budget?.id ?? null,
      spentBefore: null,
      ...stamps,
    });
  }
  const started = await startedMembers(scope.platform.earlierSpend, drafted);
  const members = started.map((member) => (member.userId === keptUserId ? { ...member, spentBefore: null } : member));
  if (budgets.length > 0) await stores.budgets.add(...budgets);
  const created = budgets.map(({ id }) => id);
  await addWithBudgets(scope, created, () => stores.teamMembers.add(...members));
  const users = resolved.map(({ user }) => user);
  for (const { id } of users) ownedKeys.evictOwner({ kind: 'userId', id });
  return { users, members };
}

/**
 * Adds users to a team; users that do not exist are created. Throws Conflict, before any is added, when one is a member
 * already or is named twice.
 */
export async function addMembers(
  scope: Scope<TeamPlatform>,
  team: Team,
  wanted: readonly WantedMember[],
): Promise<JoinedUsers> {
  const present = await scope.platform.stores.teamMembers.all({ teamIds: [team.id], userIds: null });
  const userIds = present.map(({ userId }) => userId);
  const resolved = await resolveMembers(scope, wanted, userIds);
  // Only a proxy administrator may reset the spend of its own user.
  const { role, userId } = callerOf(scope);
  return storeMembers(scope, team, resolved, role === 'proxy_admin' ? null : userId);
}
