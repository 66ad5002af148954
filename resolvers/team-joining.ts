import { type BudgetPatch, newBudget } from '../src/domain/budgets/budget.ts';
import { setsLimits } from '../src/domain/budgets/limits.ts';
import { Conflict, InvalidInput } from '../src/domain/errors.ts';
import { idOrNull } from '../src/domain/optional-id.ts';
import { newStamps } from '../src/domain/row-store.ts';
import type { MemberRole, TeamMember } from '../src/domain/teams/member.ts';
import type { Team } from '../src/domain/teams/team.ts';
import { ALL_USERS, emailKeyOf, newUser, type User } from '../src/domain/users/user.ts';
import { authored } from './operation/authored.ts';
import type { TeamPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';

/** A user who is to join a team, by id or by email. */
export interface WantedMember {
  readonly userId: string | null;
  readonly email: string | null;
  readonly role: MemberRole;
  /** Own limits in the team; empty for the defaults of the team. */
  readonly limits: BudgetPatch;
}

/** The user of a wanted member. A user that does not exist is created, as the reference does. */
export async function userNamed(
  scope: Scope<TeamPlatform>,
  { userId, email }: Pick<WantedMember, 'userId' | 'email'>,
): Promise<User> {
  const { stores, ids } = scope.platform;
  const [id, emailKey] = [idOrNull(userId), emailKeyOf(email)];
  if (id === null && emailKey === null) {
    const message = 'Value error, Either user id or user email must be provided';
    throw new InvalidInput(message, [{ path: ['body'], rule: 'value_error', message }]);
  }
  const stored = async (): Promise<User | null> =>
    id === null
      ? ((await stores.users.all({ ...ALL_USERS, emails: emailKey === null ? [] : [emailKey] }))[0] ?? null)
      : stores.users.find(id);
  const found = await stored();
  if (found !== null) return found;
  const user = newUser({ email, role: 'internal_user' }, { ...authored(scope), id: id ?? ids.uuid() });
  try {
    await stores.users.add(user);
    return user;
  } catch (error) {
    // Another request was faster.
    const other = error instanceof Conflict ? await stored() : null;
    if (other === null) throw error;
    return other;
  }
}

const alreadyIn = ({ id, email }: User): Conflict =>
  new Conflict(`User already in team. Member: user_id=${id}, user_email=${email}`, { field: 'member' });

/** Users who joined a team. */
export interface Joined {
  readonly users: readonly User[];
  readonly members: readonly TeamMember[];
}

/** Adds users to a team. Throws Conflict, before any joins, when one is a member already. */
export async function joined(scope: Scope<TeamPlatform>, team: Team, wanted: readonly WantedMember[]): Promise<Joined> {
  const { stores, ids, ownedKeys } = scope.platform;
  const about = authored(scope);
  const present = new Set(
    (await stores.teamMembers.all({ teamIds: [team.id], userIds: null })).map(({ userId }) => userId),
  );
  const users: User[] = [];
  for (const one of wanted) {
    const user = await userNamed(scope, one);
    if (present.has(user.id)) throw alreadyIn(user);
    present.add(user.id);
    users.push(user);
  }
  const members: TeamMember[] = [];
  for (const [position, { role, limits }] of wanted.entries()) {
    const user = users[position];
    if (user === undefined) continue;
    const budget = setsLimits(limits) ? newBudget(limits, { ...about, id: ids.uuid() }) : null;
    if (budget !== null) await stores.budgets.add(budget);
    // Times differ by one ms, so that lists by time keep the order of the members.
    const now = new Date(about.now.getTime() + position);
    const stamps = newStamps({ ...about, now });
    members.push({
      id: ids.uuid(),
      teamId: team.id,
      userId: user.id,
      role,
      budgetId: budget?.id ?? null,
      spentBefore: null,
      ...stamps,
    });
  }
  await stores.teamMembers.add(...members);
  for (const { id } of users) ownedKeys.evictOwner({ kind: 'userId', id });
  return { users, members };
}
