import type { Clock } from '../../domain/clock.ts';
import { Conflict, type DomainError, Unauthenticated } from '../../domain/errors.ts';
import type { TokenIdentity } from '../../domain/identity/token-identity.ts';
import type { TokenRules } from '../../domain/identity/token-rules.ts';
import { type TeamFacts, tokenTeamsOf } from '../../domain/identity/token-teams.ts';
import type { KnownToken, VerifiedTokens } from '../../domain/identity/verified-tokens.ts';
import { unstoredKey } from '../../domain/keys/unstored-key.ts';
import type { KeyGenerator, KeyStore, VirtualKey } from '../../domain/keys/virtual-key.ts';
import { type EarlierSpend, startedOwners } from '../../domain/owners/started-owner.ts';
import type { Role } from '../../domain/role.ts';
import { ALL_TEAMS, newTeam, type Team } from '../../domain/teams/team.ts';
import { ALL_USERS, emailKeyOf, newUser, type User } from '../../domain/users/user.ts';
import type { KnownTokenKeys } from './known-token-keys.ts';
import { type MappedKeyOptions, mappedKeys } from './mapped-keys.ts';
import type { OwnedKeys, OwnerStores } from './owned-keys.ts';

/** Entry of a model list that allows no model. */
const NO_MODELS = 'no-default-models';

/** Maximum number of teams that are compared to find out whether an alias is unique. */
const MAX_COMPARED_TEAMS = 1_000;

interface TokenKeyOptions extends MappedKeyOptions {
  readonly keys: OwnedKeys;
  readonly knownKeys: KnownTokenKeys;
  readonly tokens: Pick<VerifiedTokens, 'use'>;
  readonly stores: MappedKeyOptions['stores'] & Pick<OwnerStores, 'users' | 'teams' | 'teamMembers'>;
  readonly earlierSpend: EarlierSpend;
  readonly rules: TokenRules;
  readonly generator: Pick<KeyGenerator, 'hash'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** The bearer of a token: the token with the row of its user; `user` is null without one. */
interface TokenWithUser {
  readonly secretHash: string;
  readonly token: KnownToken;
  readonly user: User | null;
}

const distinct = (ids: readonly (string | null)[]): readonly string[] => [...new Set(ids.flatMap((id) => id ?? []))];

/**
 * A store of keys that also returns the keys of verified tokens. Such a key is made from the claims of the token, or is
 * the stored key that the token is mapped to.
 */
export function createTokenKeys(options: TokenKeyOptions): Pick<KeyStore, 'find' | 'findBySecrets'> {
  const { keys, knownKeys, tokens } = options;

  async function ofTokens(found: ReadonlyMap<string, KnownToken>): Promise<ReadonlyMap<string, VirtualKey>> {
    const mapped = await mappedKeys(found, options);
    const refused = [...mapped.refused].flatMap(([hash, refusal]) => {
      const token = found.get(hash);
      return token === undefined
        ? []
        : [[hash, refusedKey({ secretHash: hash, token, user: null }, refusal, options)] as const];
    });
    const others = [...found].filter(([hash]) => !mapped.keys.has(hash) && !mapped.refused.has(hash));
    return new Map([...mapped.keys, ...refused, ...(others.length === 0 ? [] : await ofClaims(new Map(others)))]);
  }

  /** Keys made from claims. The key of a bearer's first team holds the keys of the bearer's other teams. */
  async function ofClaims(found: ReadonlyMap<string, KnownToken>): Promise<ReadonlyMap<string, VirtualKey>> {
    const bearers = await bearersOf(found, options);
    const factsOf = await teamFacts(bearers, options);
    const drafts = new Map(bearers.map((bearer) => [bearer.secretHash, draftsOf(bearer, factsOf(bearer), options)]));
    const named = [...drafts].flatMap(([hash, rows]) => rows.map((row, index) => [`${hash}:${index}`, row] as const));
    // The owners of these keys are stored before a call begins. Otherwise its spend would be in no owner's total.
    const [owned] = await Promise.all([keys.withOwners(new Map(named)), knownKeys.store(named.map(([, row]) => row))]);
    return new Map(
      [...drafts].flatMap(([hash, rows]) => {
        const complete = rows.flatMap((_, index) => owned.get(`${hash}:${index}`) ?? []).map(withRole);
        const [first, ...otherTeams] = complete;
        if (first?.token === undefined) return [];
        return [[hash, { ...first, token: { ...first.token, otherTeams } }] as const];
      }),
    );
  }

  return {
    async find(secretHash) {
      const token = tokens.use(secretHash);
      if (token === undefined) return keys.find(secretHash);
      return (await ofTokens(new Map([[secretHash, token]]))).get(secretHash) ?? null;
    },
    async findBySecrets(secretHashes) {
      const found = new Map<string, KnownToken>();
      for (const hash of secretHashes) {
        const token = tokens.use(hash);
        if (token !== undefined) found.set(hash, token);
      }
      if (found.size === 0) return keys.findBySecrets(secretHashes);
      const [stored, ofToken] = await Promise.all([
        keys.findBySecrets(secretHashes.filter((hash) => !found.has(hash))),
        ofTokens(found),
      ]);
      return new Map([...stored, ...ofToken]);
    },
  };
}

/** Tokens with their users: at most three statements for any number of tokens, and more for users that are created. */
async function bearersOf(
  found: ReadonlyMap<string, KnownToken>,
  options: TokenKeyOptions,
): Promise<readonly TokenWithUser[]> {
  const { users } = options.stores;
  const ids = distinct([...found.values()].map(({ identity }) => identity.userId));
  const byId = new Map((ids.length === 0 ? [] : await users.findMany(ids)).map((user) => [user.id, user]));
  const unresolved = [...found.values()]
    .map(({ identity }) => identity)
    .filter(({ userId, email }) => (userId === null ? email !== null : !byId.has(userId)));
  if (unresolved.length === 0) return tokensWithUsers(found, ({ userId }) => byId.get(userId ?? '') ?? null);
  const subjects = distinct(unresolved.map(({ userId }) => userId));
  const emails = distinct(unresolved.map(({ email }) => email));
  const [bySubject, byEmail] = await Promise.all([
    subjects.length === 0 ? [] : users.all({ ...ALL_USERS, ssoUserIds: subjects }),
    emails.length === 0 ? [] : users.all({ ...ALL_USERS, emails }),
  ]);
  const bySsoUserId = new Map(bySubject.map((user) => [user.ssoUserId, user]));
  const byEmailKey = new Map(byEmail.map((user) => [user.emailKey, user]));
  const knownUser = ({ userId, email }: TokenIdentity): User | null =>
    byId.get(userId ?? '') ??
    bySsoUserId.get(userId) ??
    (email === null ? undefined : byEmailKey.get(emailKeyOf(email))) ??
    null;
  if (options.rules.createsUsers) {
    const missing = unresolved.filter((identity) => identity.role !== 'proxy_admin' && knownUser(identity) === null);
    for (const [id, user] of await createdUsers(missing, options)) byId.set(id, user);
  }
  return tokensWithUsers(found, knownUser);
}

const tokensWithUsers = (
  found: ReadonlyMap<string, KnownToken>,
  userOf: (identity: TokenIdentity) => User | null,
): readonly TokenWithUser[] =>
  [...found].map(([secretHash, token]) => ({ secretHash, token, user: userOf(token.identity) }));

/**
 * Creates the users of tokens. Returns them by the user id of the token: the stored user if another request or token
 * created one with this id or email first.
 */
async function createdUsers(
  identities: readonly TokenIdentity[],
  { stores, earlierSpend, clock }: TokenKeyOptions,
): Promise<ReadonlyMap<string, User>> {
  // The first token of a user gives its email.
  const drafted = [...Map.groupBy(identities, ({ userId }) => userId)].flatMap(([id, [first]]) =>
    id === null ? [] : [newUser({ email: first?.email ?? null }, { id, now: clock.now(), by: id })],
  );
  const created = new Map<string, User>();
  for (const user of await startedOwners(earlierSpend, 'user', drafted))
    // oxlint-disable-next-line no-await-in-loop -- two users may have one email
    created.set(user.id, await addedUser(user, stores));
  return created;
}

/** Stores a new user. Returns the stored user if there is one with its id or email. */
async function addedUser(user: User, { users }: TokenKeyOptions['stores']): Promise<User> {
  try {
    await users.add(user);
    return user;
  } catch (error) {
    if (!(error instanceof Conflict)) throw error;
    const emails = [user.emailKey].filter((one) => one !== null);
    const other = (await users.find(user.id)) ?? (await users.all({ ...ALL_USERS, emails }))[0];
    if (other === undefined) throw error;
    return other;
  }
}

/** The facts that decide the teams of each bearer. */
async function teamFacts(
  bearers: readonly TokenWithUser[],
  { stores, earlierSpend, rules, clock }: TokenKeyOptions,
): Promise<(bearer: TokenWithUser) => TeamFacts> {
  const needsMembers = rules.usesMemberships || rules.replacesUnknownTeams;
  const userIds = needsMembers ? distinct(bearers.map(({ user }) => user?.id ?? null)) : [];
  const members = userIds.length === 0 ? [] : await stores.teamMembers.all({ userIds, teamIds: null });
  const membershipsByUser = Map.groupBy(members, ({ userId }) => userId);
  const ids = distinct([
    rules.defaultTeamId,
    ...bearers.flatMap(({ token }) => token.identity.teamIds),
    ...members.map(({ teamId }) => teamId),
  ]);
  const teams = new Map((ids.length === 0 ? [] : await stores.teams.findMany(ids)).map((team) => [team.id, team]));
  if (rules.createsTeams) await addTeams(bearers, teams, { stores, earlierSpend, clock });
  const shared = await sharedAliases(bearers, teams, stores);
  return ({ user }) => ({
    teams,
    memberships: (membershipsByUser.get(user?.id ?? '') ?? []).map(({ teamId }) => teamId),
    isUnique: (alias) => !shared.has(alias),
  });
}

/** Creates the teams that tokens name and that are not stored. */
async function addTeams(
  bearers: readonly TokenWithUser[],
  teams: Map<string, Team>,
  { stores, earlierSpend, clock }: Pick<TokenKeyOptions, 'stores' | 'earlierSpend' | 'clock'>,
): Promise<void> {
  const named = bearers.flatMap(({ token, user }) => token.identity.teamIds.map((id) => [id, user?.id ?? id] as const));
  // The first bearer that names a team is its author.
  const missing = new Map(named.filter(([id]) => !teams.has(id)).toReversed());
  const drafted = [...missing].map(([id, by]) => newTeam({}, { id, now: clock.now(), by }));
  for (const team of await startedOwners(earlierSpend, 'team', drafted))
    try {
      // oxlint-disable-next-line no-await-in-loop -- few teams, and only at the first token that names them
      await stores.teams.add(team);
      teams.set(team.id, team);
    } catch (error) {
      // oxlint-disable-next-line no-await-in-loop -- as above
      const other = error instanceof Conflict ? await stores.teams.find(team.id) : null;
      if (other === null) throw error;
      teams.set(team.id, other);
    }
}

/** Aliases that tokens choose and that several teams have. With too many similar aliases, an alias counts as shared. */
async function sharedAliases(
  bearers: readonly TokenWithUser[],
  teams: ReadonlyMap<string, Team>,
  stores: TokenKeyOptions['stores'],
): Promise<ReadonlySet<string>> {
  const aliases = new Set([...teams.values()].map(({ alias }) => alias));
  const chosenAliases = distinct(bearers.map(({ token }) => token.chosenTeam)).filter((name) => aliases.has(name));
  const shared = await Promise.all(
    chosenAliases.map(async (alias) => {
      const filter = { ...ALL_TEAMS, aliasPart: alias };
      const page = { filter, sort: 'created_at', descending: false, limit: MAX_COMPARED_TEAMS, from: 0 } as const;
      const alike = await stores.teams.list(page);
      const hasOneTeam = alike.filter((team) => team.alias === alias).length === 1;
      return hasOneTeam && alike.length < MAX_COMPARED_TEAMS ? [] : [alias];
    }),
  );
  return new Set(shared.flat());
}

/** The key of a bearer that is refused. */
const refusedKey = (
  bearer: TokenWithUser,
  refusal: () => DomainError,
  { generator, clock }: Pick<TokenKeyOptions, 'generator' | 'clock'>,
): VirtualKey => tokenKey(bearer, { teamId: null, now: clock.now(), hash: generator.hash, refusal });

/**
 * The keys of a bearer without their owners: one for each of its teams. A bearer that is refused or has no team has one
 * key.
 */
function draftsOf(
  bearer: TokenWithUser,
  facts: TeamFacts,
  { rules, generator, clock }: TokenKeyOptions,
): readonly VirtualKey[] {
  const { token, user } = bearer;
  const { identity } = token;
  const { userId, role } = identity;
  const draft = (teamId: string | null, refusal?: () => DomainError): VirtualKey =>
    tokenKey(bearer, { teamId, now: clock.now(), hash: generator.hash, refusal });
  if (identity.refusal !== null) return [draft(null, identity.refusal)];
  if (userId !== null && user === null && role !== 'proxy_admin')
    return [draft(null, () => new Unauthenticated(`user '${userId}' does not exist.`, 'unknown'))];
  const teams = tokenTeamsOf(token, facts, rules);
  if ('refusal' in teams) return [draft(null, teams.refusal)];
  return teams.teamIds.length === 0 ? [draft(null)] : teams.teamIds.map((teamId) => draft(teamId));
}

function tokenKey(
  { secretHash, token: { identity }, user }: TokenWithUser,
  about: {
    readonly teamId: string | null;
    readonly now: Date;
    readonly hash: (text: string) => string;
    readonly refusal: (() => DomainError) | undefined;
  },
): VirtualKey {
  const { issuer, subject, role, organizationId, endUserId, routes, expiresAt } = identity;
  const { teamId, now, refusal } = about;
  const userId = user?.id ?? identity.userId;
  // Later tokens of a bearer have the same hash, so that they own the same rows. The hash contains all owners whose
  // spend includes the calls of this key: team, user, and the organization of a token without a team.
  const userOrSubject = userId ?? { subject };
  const ofOrganization = teamId === null && organizationId !== null ? [organizationId] : [];
  const hash = about.hash(JSON.stringify(['token', issuer, userOrSubject, teamId, role, ...ofOrganization]));
  return {
    ...unstoredKey({ hash, name: `jwt-...${hash.slice(-4)}`, teamId, now }),
    secretHash,
    role: roleOfToken(role),
    userId,
    models: modelsOfToken(identity.models),
    settings: {
      ...(routes.length === 0 ? {} : { allowedRoutes: routes }),
      ...(organizationId === null ? {} : { organizationId }),
    },
    expiresAt,
    ...(refusal === undefined ? {} : { refusal }),
    token: { endUserId, otherTeams: [], hasRole: role !== null },
  };
}

/** Models of the key of a token. An empty list allows every model for a key, and none for a token. */
function modelsOfToken(models: TokenIdentity['models']): readonly string[] {
  if (models === null) return [];
  return models.length === 0 ? [NO_MODELS] : models;
}

const roleOfToken = (role: TokenIdentity['role']): Role => (role === null || role === 'team' ? 'internal_user' : role);

/** A key with the role of its user, where the token has no role. */
const withRole = (key: VirtualKey): VirtualKey =>
  key.token?.hasRole === false ? { ...key, role: key.owners?.user?.role ?? key.role } : key;
