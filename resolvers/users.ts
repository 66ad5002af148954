import type { JsonObject } from '../src/domain/json-object.ts';
import { Conflict, Forbidden, NotFound } from '../src/domain/errors.ts';
import type { KeyDraft } from '../src/domain/keys/key-draft.ts';
import { nullIfBlank } from '../src/domain/optional-text.ts';
import { startedMembers, startedOwner } from '../src/domain/owners/started-owner.ts';
import { newStamps } from '../src/domain/row-store.ts';
import type { Team } from '../src/domain/teams/team.ts';
import { defaultsOfUsers } from '../src/domain/settings/row-defaults.ts';
import {
  ALL_USERS,
  DEFAULT_USER_ID,
  newUser,
  patchedUser,
  type User,
  type UserFilter,
  type UserPatch,
  type UserSort,
} from '../src/domain/users/user.ts';
import { type GeneratedKey, issueKey } from './operation/key-issue.ts';
import { deleteKeys } from './keys.ts';
import { isAnyAdmin, refuseManagement, teamReader, tenantAdmin, tenantViewer, userEditor } from './operation/access.ts';
import { authored } from './operation/authored.ts';
import { userIdOf } from './operation/named-users.ts';
import { callerOf, operation } from './operation/operation.ts';
import { userLister } from './operation/owner-access.ts';
import type { UserPlatform } from './operation/platform.ts';
import { pageOf } from './operation/row-pages.ts';
import type { Scope } from './operation/scope.ts';
import { type CountedUser, countedUsers, type UserView, userViews } from './operation/user-views.ts';

const unknownUser = (id: string, message = `User ${id} not found`): NotFound => new NotFound('user', id, message);

/** A new user and the key that it gets. */
export interface UserDraft {
  /** Null for a generated id. */
  readonly id: string | null;
  readonly patch: UserPatch;
  /** Teams that the user joins; empty for the default teams. Unknown ones are ignored. */
  readonly teamIds: readonly string[];
  /** The key of the user; null for none. */
  readonly key: KeyDraft | null;
}

export interface CreatedUser {
  readonly user: User;
  readonly key: GeneratedKey | null;
}

async function assertNew({ platform }: Scope<UserPlatform>, user: User): Promise<void> {
  if ((await platform.stores.users.find(user.id)) !== null)
    throw new Conflict(`User with id ${user.id} already exists`);
  const { emailKey } = user;
  if (emailKey === null) return;
  const [sameEmail] = await platform.stores.users.all({ ...ALL_USERS, emails: [emailKey] });
  if (sameEmail !== undefined) throw new Conflict(`User with email ${user.email} already exists`);
}

/**
 * Creates a user, its memberships and its key. Absent settings get the defaults of new users. Throws Conflict when the
 * id or the email is taken, InvalidInput, and what `issueKey` throws.
 */
export const createUser = operation({
  name: 'createUser',
  access: tenantAdmin,
  async run(scope: Scope<UserPlatform>, draft: UserDraft): Promise<CreatedUser> {
    const { stores, ids, ownedKeys, configuration } = scope.platform;
    const { id, patch, key } = draft;
    const authorship = authored(scope);
    const defaults = defaultsOfUsers(configuration);
    const teamIds = draft.teamIds.length === 0 ? defaults.teamIds : draft.teamIds;
    const drafted = newUser({ ...defaults.patch, ...patch }, { ...authorship, id: nullIfBlank(id) ?? ids.uuid() });
    await assertNew(scope, drafted);
    const user = await startedOwner(scope.platform.earlierSpend, 'user', drafted);
    await stores.users.add(user);
    // Keys may have named the user before it existed.
    ownedKeys.evictOwner({ kind: 'userId', id: user.id });
    const teams = teamIds.length === 0 ? [] : await stores.teams.findMany(teamIds);
    const stamps = newStamps(authorship);
    const members = teams.map((team) => ({
      id: ids.uuid(),
      teamId: team.id,
      userId: user.id,
      role: 'user' as const,
      budgetId: null,
      spentBefore: null,
      ...stamps,
    }));
    await stores.teamMembers.add(...(await startedMembers(scope.platform.earlierSpend, members)));
    if (key === null) return { user, key: null };
    return { user, key: await issueKey(scope, { ...key, userId: user.id, role: user.role }) };
  },
});

/** A user with its keys and teams. */
export interface UserDetails extends UserView {
  readonly teams: readonly Team[];
}

/** Reads a user; null reads the caller's own user. Throws NotFound. Only administrators may read another user. */
export const getUser = operation({
  name: 'getUser',
  access: teamReader,
  async run(scope: Scope<UserPlatform>, { id }: { readonly id: string | null }): Promise<UserDetails> {
    const caller = callerOf(scope);
    // The admin key has no row in the store. Its user is the default user, who may also have no row.
    const own = caller.key === null ? DEFAULT_USER_ID : nullIfBlank(caller.userId);
    const named = nullIfBlank(id) ?? own;
    if (named !== own && !isAnyAdmin(caller))
      throw new Forbidden(
        `key not allowed to access this user's info. user_id=${named}, key's user_id=${own}`,
        'user_info',
      );
    const stored = named === null ? null : await scope.platform.stores.users.find(named);
    const user = stored ?? (named === DEFAULT_USER_ID ? newUser({}, { ...authored(scope), id: named }) : null);
    if (user === null) throw unknownUser(named ?? 'none');
    const [view] = await userViews(scope, [user]);
    if (view === undefined) throw unknownUser(user.id);
    const teams = view.teamIds.length === 0 ? [] : await scope.platform.stores.teams.findMany(view.teamIds);
    return { ...view, teams };
  },
});

export interface UserQuery {
  readonly filter: UserFilter;
  /** Only members of this team; null for all users. */
  readonly teamId: string | null;
  readonly sort: UserSort;
  readonly descending: boolean;
  readonly limit: number;
  /** Number of rows to skip, or the place of the row after which the page begins. */
  readonly from: number | { readonly createdAt: Date; readonly id: string };
}

export interface UserList {
  readonly users: readonly CountedUser[];
  /** Number of users that match, on all pages. */
  readonly totalCount: number;
  /** Whether users follow this page. */
  readonly hasMore: boolean;
}

/** Lists users with their teams and the number of their keys. */
export const listUsers = operation({
  name: 'listUsers',
  access: userLister,
  async run(scope: Scope<UserPlatform>, { filter, teamId, ...page }: UserQuery): Promise<UserList> {
    const within = teamId === null ? filter : { ...filter, ids: await membersAmong(scope, teamId, filter.ids) };
    const { nodes, ...counts } = await pageOf(scope.platform.stores.users, within, page);
    return { ...counts, users: await countedUsers(scope, nodes) };
  },
});

async function membersAmong(
  { platform }: Scope<UserPlatform>,
  teamId: string,
  ids: readonly string[] | null,
): Promise<readonly string[]> {
  const members = await platform.stores.teamMembers.all({ teamIds: [teamId], userIds: ids });
  return members.map(({ userId }) => userId);
}

/** Name of a user: its id, or its email when there is no id. */
export interface NamedUser {
  readonly id: string | null;
  readonly email: string | null;
}

/** Fields of a user that the user may change. */
const OWN_FIELDS = new Set(['alias', 'email', 'metadata']);

/**
 * Whether signed tokens name their users by email. If they do, a user who enters the email of another user gets the
 * rights of that user.
 */
function tokensNameUsersByEmail({ configuration }: UserPlatform): boolean {
  const general = configuration.current().resolved['general_settings'] as JsonObject | undefined;
  const rules = general?.['litellm_jwtauth'] as JsonObject | null | undefined;
  return general?.['enable_jwt_auth'] === true && typeof rules?.['user_email_jwt_field'] === 'string';
}

function assertMayEdit(scope: Scope<UserPlatform>, id: string | null, patch: UserPatch): void {
  const caller = callerOf(scope);
  if (caller.role === 'proxy_admin') return;
  const hasOtherField = Object.keys(patch).some((field) => !OWN_FIELDS.has(field));
  if (hasOtherField || id !== nullIfBlank(caller.userId)) throw refuseManagement(caller);
  if (patch.email !== undefined && tokensNameUsersByEmail(scope.platform))
    throw new Forbidden(
      'Only proxy admins change emails, because signed tokens name their users by email.',
      'user_owner',
    );
}

/**
 * Changes a user. A user that does not exist is created, as in the reference. Throws InvalidInput, and Conflict when
 * the email is taken. Callers who are not proxy administrators may change only `OWN_FIELDS` of their own user, and
 * otherwise get Forbidden.
 */
export const updateUser = operation({
  name: 'updateUser',
  access: userEditor,
  async run(scope: Scope<UserPlatform>, { named, patch }: { readonly named: NamedUser; readonly patch: UserPatch }) {
    const { stores, ids, ownedKeys } = scope.platform;
    const id = await userIdOf(stores, { userId: named.id, email: named.email });
    assertMayEdit(scope, id, patch);
    const authorship = authored(scope);
    const done = id === null ? null : await stores.users.change(id, (user) => patchedUser(user, patch, authorship));
    const newOne = () => newUser({ email: named.email, ...patch }, { ...authorship, id: id ?? ids.uuid() });
    const user = done?.after ?? (await startedOwner(scope.platform.earlierSpend, 'user', newOne()));
    if (done === null) await stores.users.add(user);
    ownedKeys.evictOwner({ kind: 'userId', id: user.id });
    const [view] = await userViews(scope, [user]);
    if (view === undefined) throw unknownUser(user.id);
    return view;
  },
});

/**
 * Deletes users with their keys, invitations and memberships of teams and organizations. Returns the number of users.
 * Throws NotFound for an unknown one, before any is deleted.
 */
export const deleteUsers = operation({
  name: 'deleteUsers',
  access: tenantAdmin,
  async run(scope: Scope<UserPlatform>, ids: readonly string[]): Promise<number> {
    const { stores, ownedKeys } = scope.platform;
    const known = new Set((await stores.users.findMany(ids)).map(({ id }) => id));
    const missing = ids.find((id) => !known.has(id));
    if (missing !== undefined) throw unknownUser(missing, `User not found, passed user_id=${missing}`);
    if (known.size === 0) return 0;
    const keys = await stores.keys.findOwned('userId', ids);
    if (keys.length > 0) await deleteKeys(scope, { keys: keys.map(({ hash }) => hash), aliases: [] });
    const [members, organizationMembers, invitations] = await Promise.all([
      stores.teamMembers.all({ teamIds: null, userIds: ids }),
      stores.organizationMembers.all({ organizationIds: null, userIds: ids }),
      stores.invitations.all({ userIds: ids }),
    ]);
    await stores.teamMembers.remove(members.map(({ id }) => id));
    await stores.organizationMembers.remove(organizationMembers.map(({ id }) => id));
    await stores.invitations.remove(invitations.map(({ id }) => id));
    const removed = await stores.users.remove(ids);
    for (const { id } of removed) ownedKeys.evictOwner({ kind: 'userId', id });
    return removed.length;
  },
});

/** Counts all users and all teams. */
export const countUsers = operation({
  name: 'countUsers',
  access: tenantViewer,
  async run({ platform }: Scope<UserPlatform>): Promise<{ readonly users: number; readonly teams: number }> {
    const { users, teams } = platform.stores;
    const [userCount, teamCount] = await Promise.all([
      users.count(ALL_USERS),
      teams.count({ ids: null, organizationId: null, aliasPart: null }),
    ]);
    return { users: userCount, teams: teamCount };
  },
});
