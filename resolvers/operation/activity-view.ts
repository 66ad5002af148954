import { Forbidden, NotFound } from '../../src/domain/errors.ts';
import type { VirtualKey } from '../../src/domain/keys/virtual-key.ts';
import { nullIfBlank } from '../../src/domain/optional-text.ts';
import type { ActivityEntity } from '../../src/domain/spend/daily-activity.ts';
import type { SpendFilter } from '../../src/domain/spend/spend-reports.ts';
import { type FilterRequest, visibleFilter } from './spend-filter.ts';
import { isAnyAdmin, refuseManagement } from './access.ts';
import { callerOf } from './operation.ts';
import type { ActivityPlatform } from './platform.ts';
import type { Scope } from './scope.ts';

/** Query of the activity of one kind of entity. */
export interface EntityQuery {
  readonly entity: ActivityEntity;
  readonly filter: FilterRequest;
}

/** Kinds of entities whose activity includes calls that have no such entity: calls without a user or without a team. */
const WITH_UNASSIGNED = new Set<ActivityEntity>(['user', 'team']);

/**
 * The calls that a caller may see as activity of an entity. Administrators see all calls. Users see their own calls,
 * and all calls of teams and organizations that they administer. Only administrators may query customers and agents.
 * Throws Forbidden and NotFound.
 */
export async function activityFilter(scope: Scope<ActivityPlatform>, query: EntityQuery): Promise<SpendFilter> {
  const { entity } = query;
  const filter = await visibleFilter(scope, query.filter);
  // `some` keeps only calls that have such an entity.
  const ofEntity: SpendFilter = WITH_UNASSIGNED.has(entity) ? filter : { ...filter, some: [entity] };
  const caller = callerOf(scope);
  if (isAnyAdmin(caller)) return ofEntity;
  const userId = nullIfBlank(caller.userId);
  if (entity === 'endUser' || entity === 'agent') throw refuseManagement(caller);
  if (entity === 'team') return filterOfTeams(scope, ofEntity, userId);
  if (userId === null)
    throw new Forbidden(
      `Keys without a user cannot query ${entity} analytics. Use a key of a user, or call as a proxy admin.`,
      'service_account',
    );
  if (entity === 'organization') return filterOfOrganizations(scope, ofEntity, userId);
  const asksForOthers = ofEntity.any.user?.some((user) => user !== userId) ?? false;
  if (entity === 'user' && asksForOthers)
    throw new Forbidden('You can only view your own spend data.', 'service_account');
  return ofEntity;
}

/**
 * Calls of the user's teams: all calls of teams that the user administers, and in the other teams the user's own calls.
 */
async function filterOfTeams(
  { platform, caller }: Scope<ActivityPlatform>,
  filter: SpendFilter,
  userId: string | null,
): Promise<SpendFilter> {
  if (userId === null) throw new NotFound('user', '', 'User= None not found');
  const members = await platform.stores.teamMembers.all({ teamIds: null, userIds: [userId] });
  const teams = members.map(({ teamId }) => teamId);
  const requested = filter.any.team;
  const foreign = requested?.find((team) => !teams.includes(team));
  if (foreign !== undefined)
    throw new NotFound(
      'team',
      foreign,
      `User does not belong to Team= ${foreign}. Call \`/user/info\` to see your teams.`,
    );
  const administered = members.filter(({ role }) => role === 'admin').map(({ teamId }) => teamId);
  return {
    ...filter,
    any: { ...filter.any, team: requested ?? teams },
    visibleTo: { keyHash: caller?.keyHash ?? '', userId, teamIds: administered },
  };
}

/** All calls of the organizations that the caller administers. */
async function filterOfOrganizations(
  { platform }: Scope<ActivityPlatform>,
  filter: SpendFilter,
  userId: string,
): Promise<SpendFilter> {
  const members = await platform.stores.organizationMembers.all({ organizationIds: null, userIds: [userId] });
  const administered = members.filter(({ role }) => role === 'org_admin').map(({ organizationId }) => organizationId);
  const organization = filter.any.organization ?? administered;
  if (organization.length === 0 || organization.some((id) => !administered.includes(id)))
    throw new Forbidden('You can only view the activity of organizations that you administer.', 'service_account');
  return { ...filter, any: { ...filter.any, organization }, visibleTo: null };
}

/** Keys by hash, and names of users and entities. */
export interface ActivityNames {
  readonly keys: ReadonlyMap<string, VirtualKey>;
  /** Emails by user id; null for a user without one. */
  readonly emails: ReadonlyMap<string, string | null>;
  /** Aliases of entities by id; null for an entity without an alias, absent for an entity without a row. */
  readonly aliases: ReadonlyMap<string, string | null>;
}

/** Reads keys, and the names of their users and of entities. */
export async function activityNames(
  { platform: { stores } }: Scope<ActivityPlatform>,
  entity: ActivityEntity,
  { hashes, entities }: { readonly hashes: Iterable<string>; readonly entities: readonly string[] },
): Promise<ActivityNames> {
  const found = await stores.keys.findMany([...new Set(hashes)]);
  const userIds = [...found.flatMap(({ userId }) => userId ?? []), ...(entity === 'user' ? entities : [])];
  const [users, aliased] = await Promise.all([
    stores.users.findMany([...new Set(userIds)]),
    aliasedRows({ stores }, entity, entities),
  ]);
  const rows = entity === 'user' ? users : aliased;
  return {
    keys: new Map(found.map((key) => [key.hash, key])),
    emails: new Map(users.map(({ id, email }) => [id, email])),
    aliases: new Map(rows.map(({ id, alias }) => [id, alias])),
  };
}

function aliasedRows(
  { stores }: Pick<ActivityPlatform, 'stores'>,
  entity: ActivityEntity,
  ids: readonly string[],
): Promise<readonly { readonly id: string; readonly alias: string | null }[]> {
  if (entity === 'team') return stores.teams.findMany(ids);
  if (entity === 'endUser') return stores.customers.findMany(ids);
  return entity === 'organization' ? stores.organizations.findMany(ids) : Promise.resolve([]);
}
