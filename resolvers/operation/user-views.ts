import { type Usd, ZERO_USD } from '../../src/domain/money.ts';
import type { TeamMember } from '../../src/domain/teams/member.ts';
import type { User } from '../../src/domain/users/user.ts';
import { type KeyInfo, keyInfos } from './key-lookup.ts';
import type { UserPlatform } from './platform.ts';
import type { Scope } from './scope.ts';

/** A user with its teams, keys and spend. */
export interface UserView {
  readonly user: User;
  readonly teamIds: readonly string[];
  readonly keys: readonly KeyInfo[];
  /** Spend of the user's keys in the budget window, deleted keys included. The budget of the user limits it. */
  readonly spend: Usd;
}

/** The spend of an owner in its budget window. `spentBefore` is the owner's total spend when the window began. */
export const windowSpendOf = ({ id, spentBefore }: Pick<User, 'id' | 'spentBefore'>, totals: OwnerTotals): Usd =>
  ((totals.get(id) ?? ZERO_USD) - (spentBefore ?? ZERO_USD)) as Usd;

type OwnerTotals = ReadonlyMap<string, Usd>;

/** A user of a list. */
export interface CountedUser extends Omit<UserView, 'keys'> {
  readonly keyCount: number;
}

const teamIdsByUser = (members: readonly TeamMember[]): ((id: string) => readonly string[]) => {
  const found = Map.groupBy(members, ({ userId }) => userId);
  return (id) => (found.get(id) ?? []).map(({ teamId }) => teamId);
};

/** Users with their teams and the number of their keys: three statements for any number of users and keys. */
export async function countedUsers(
  scope: Scope<UserPlatform>,
  users: readonly User[],
): Promise<readonly CountedUser[]> {
  if (users.length === 0) return [];
  const { stores } = scope.platform;
  const ids = users.map(({ id }) => id);
  const [members, keyCounts, totals] = await Promise.all([
    stores.teamMembers.all({ teamIds: null, userIds: ids }),
    stores.keys.countOwned('userId', ids),
    stores.spend.totalsOfOwners('user', ids),
  ]);
  const teamIdsOf = teamIdsByUser(members);
  return users.map((user) => ({
    user,
    teamIds: teamIdsOf(user.id),
    keyCount: keyCounts.get(user.id) ?? 0,
    spend: windowSpendOf(user, totals),
  }));
}

/** Users with their teams and keys: at most six statements for any number of users. */
export async function userViews(scope: Scope<UserPlatform>, users: readonly User[]): Promise<readonly UserView[]> {
  if (users.length === 0) return [];
  const { stores } = scope.platform;
  const ids = users.map(({ id }) => id);
  const [members, rows, totals] = await Promise.all([
    stores.teamMembers.all({ teamIds: null, userIds: ids }),
    stores.keys.findOwned('userId', ids),
    stores.spend.totalsOfOwners('user', ids),
  ]);
  const keysByUser = Map.groupBy(await keyInfos(scope, rows), ({ row }) => row.userId);
  const teamIdsOf = teamIdsByUser(members);
  return users.map((user) => ({
    user,
    teamIds: teamIdsOf(user.id),
    keys: keysByUser.get(user.id) ?? [],
    spend: windowSpendOf(user, totals),
  }));
}
