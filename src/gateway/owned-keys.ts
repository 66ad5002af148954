import type { Budget } from '../domain/budgets/budget.ts';
import type { Limits } from '../domain/budgets/limits.ts';
import type { KeyStore, VirtualKey } from '../domain/keys/virtual-key.ts';
import { ZERO_USD } from '../domain/money.ts';
import { idOrNull } from '../domain/optional-id.ts';
import type { Organization } from '../domain/organizations/organization.ts';
import type { KeyOwners } from '../domain/owners/key-owners.ts';
import type { TeamMember } from '../domain/teams/member.ts';
import type { Team } from '../domain/teams/team.ts';
import type { TenancyStores } from '../domain/tenancy-stores.ts';
import type { User } from '../domain/users/user.ts';

type OwnerStores = Pick<TenancyStores, 'users' | 'teams' | 'teamMembers' | 'organizations' | 'budgets'>;

interface OwnerRows {
  readonly users: ReadonlyMap<string, User>;
  readonly teams: ReadonlyMap<string, Team>;
  readonly members: readonly TeamMember[];
  readonly organizations: ReadonlyMap<string, Organization>;
  readonly budgets: ReadonlyMap<string, Budget>;
}

const byId = <Row extends { readonly id: string }>(rows: readonly Row[]): ReadonlyMap<string, Row> =>
  new Map(rows.map((row) => [row.id, row]));

const distinct = (ids: readonly (string | null)[]): readonly string[] => [
  ...new Set(ids.flatMap((id) => idOrNull(id) ?? [])),
];

function limitsOf(row: Limits): Limits {
  const { maxBudget, softBudget, budgetDuration, budgetResetAt, rpmLimit, tpmLimit, tpdLimit } = row;
  const { maxParallelRequests } = row;
  return { maxBudget, softBudget, budgetDuration, budgetResetAt, rpmLimit, tpmLimit, tpdLimit, maxParallelRequests };
}

/** The rows of the owners of keys: two rounds of statements for any number of keys. */
async function readOwners(stores: OwnerStores, keys: readonly VirtualKey[]): Promise<OwnerRows> {
  const [userIds, teamIds] = [distinct(keys.map((key) => key.userId)), distinct(keys.map((key) => key.teamId))];
  const [users, teams, members] = await Promise.all([
    userIds.length === 0 ? [] : stores.users.findMany(userIds),
    teamIds.length === 0 ? [] : stores.teams.findMany(teamIds),
    userIds.length === 0 || teamIds.length === 0 ? [] : stores.teamMembers.all({ teamIds, userIds }),
  ]);
  const organizationIds = distinct(teams.map(({ organizationId }) => organizationId));
  const organizations = organizationIds.length === 0 ? [] : await stores.organizations.findMany(organizationIds);
  const budgetIds = distinct([
    ...members.map(({ budgetId }) => budgetId),
    ...teams.map(({ memberBudgetId }) => memberBudgetId),
    ...organizations.map(({ budgetId }) => budgetId),
  ]);
  const budgets = budgetIds.length === 0 ? [] : await stores.budgets.findMany(budgetIds);
  return {
    users: byId(users),
    teams: byId(teams),
    members,
    organizations: byId(organizations),
    budgets: byId(budgets),
  };
}

function ownersOf({ userId, teamId }: VirtualKey, rows: OwnerRows): KeyOwners {
  const user = rows.users.get(userId ?? '') ?? null;
  const team = rows.teams.get(teamId ?? '') ?? null;
  const member = rows.members.find((one) => one.userId === userId && one.teamId === teamId) ?? null;
  const organization = rows.organizations.get(team?.organizationId ?? '') ?? null;
  const memberBudget = member === null ? null : rows.budgets.get(member.budgetId ?? team?.memberBudgetId ?? '');
  const organizationBudget = rows.budgets.get(organization?.budgetId ?? '');
  return {
    user: user && {
      id: user.id,
      role: user.role,
      models: user.models,
      limits: limitsOf(user),
      spentBefore: user.spentBefore ?? ZERO_USD,
    },
    team: team && {
      id: team.id,
      blocked: team.blocked,
      models: team.models,
      modelAliases: team.modelAliases,
      metadata: team.metadata,
      limits: limitsOf(team),
      spentBefore: team.spentBefore ?? ZERO_USD,
    },
    member: member && {
      role: member.role,
      models: memberBudget?.allowedModels ?? [],
      limits: memberBudget ? limitsOf(memberBudget) : null,
      hasOwnLimits: member.budgetId !== null,
    },
    organization: organization && {
      id: organization.id,
      models: organization.models,
      limits: organizationBudget ? limitsOf(organizationBudget) : null,
    },
  };
}

const hasOwner = ({ userId, teamId }: VirtualKey): boolean => idOrNull(userId) !== null || idOrNull(teamId) !== null;

/** Keys read together with their owners, for the key ring: both are then equally fresh (ADR 0056). */
export function createOwnedKeys(
  keys: Pick<KeyStore, 'find' | 'findBySecrets'>,
  stores: OwnerStores,
): Pick<KeyStore, 'find' | 'findBySecrets'> {
  async function withOwners(found: ReadonlyMap<string, VirtualKey>): Promise<ReadonlyMap<string, VirtualKey>> {
    const owned = [...found.values()].filter(hasOwner);
    if (owned.length === 0) return found;
    const rows = await readOwners(stores, owned);
    return new Map(
      [...found].map(([hash, key]) => [hash, hasOwner(key) ? { ...key, owners: ownersOf(key, rows) } : key]),
    );
  }

  return {
    async find(secretHash) {
      const key = await keys.find(secretHash);
      return key === null ? null : ((await withOwners(new Map([[secretHash, key]]))).get(secretHash) ?? null);
    },
    findBySecrets: async (secretHashes) => withOwners(await keys.findBySecrets(secretHashes)),
  };
}
