import { memberId } from '../../domain/admission/counters.ts';
import {
  type AccessGroup,
  agentGrantsOf,
  mcpGrantsOf,
  modelGrantsOf,
} from '../../domain/access-groups/access-group.ts';
import type { Budget } from '../../domain/budgets/budget.ts';
import { limitsOf } from '../../domain/budgets/limits.ts';
import type { KeyStore, VirtualKey } from '../../domain/keys/virtual-key.ts';
import { type Usd, ZERO_USD } from '../../domain/money.ts';
import { nullIfBlank } from '../../domain/optional-text.ts';
import type { Organization } from '../../domain/organizations/organization.ts';
import type { KeyOwners } from '../../domain/owners/key-owners.ts';
import type { Project } from '../../domain/projects/project.ts';
import type { TeamMember } from '../../domain/teams/member.ts';
import type { Team } from '../../domain/teams/team.ts';
import type { TenancyStores } from '../../domain/tenancy-stores.ts';
import type { User } from '../../domain/users/user.ts';
import type { CountedBudgets, BudgetHolder } from '../admission/counted-budgets.ts';

export type OwnerStores = Pick<
  TenancyStores,
  'users' | 'teams' | 'teamMembers' | 'organizations' | 'projects' | 'budgets' | 'accessGroups'
>;

interface OwnerRows {
  readonly users: ReadonlyMap<string, User>;
  readonly teams: ReadonlyMap<string, Team>;
  readonly members: readonly TeamMember[];
  readonly organizations: ReadonlyMap<string, Organization>;
  readonly projects: ReadonlyMap<string, Project>;
  readonly budgets: ReadonlyMap<string, Budget>;
}

/** A list of models with those that access groups add. An empty list stays empty: it allows every model. */
const withGrantedModels = (models: readonly string[], granted: readonly string[]): readonly string[] =>
  models.length === 0 || granted.length === 0 ? models : [...models, ...granted];

const byId = <Row extends { readonly id: string }>(rows: readonly Row[]): ReadonlyMap<string, Row> =>
  new Map(rows.map((row) => [row.id, row]));

const distinct = (ids: readonly (string | null)[]): readonly string[] => [
  ...new Set(ids.flatMap((id) => nullIfBlank(id) ?? [])),
];

/** The rows of the owners of keys: at most three rounds of statements for any number of keys. */
async function readOwners(stores: OwnerStores, keys: readonly VirtualKey[]): Promise<OwnerRows> {
  const [userIds, teamIds] = [distinct(keys.map((key) => key.userId)), distinct(keys.map((key) => key.teamId))];
  const projectIds = distinct(keys.map(({ settings }) => settings.projectId ?? null));
  const [users, teams, members, projects] = await Promise.all([
    userIds.length === 0 ? [] : stores.users.findMany(userIds),
    teamIds.length === 0 ? [] : stores.teams.findMany(teamIds),
    userIds.length === 0 || teamIds.length === 0 ? [] : stores.teamMembers.all({ teamIds, userIds }),
    projectIds.length === 0 ? [] : stores.projects.findMany(projectIds),
  ]);
  const organizationIds = distinct([
    ...teams.map(({ organizationId }) => organizationId),
    ...keys.map(({ settings }) => settings.organizationId ?? null),
  ]);
  const organizations = organizationIds.length === 0 ? [] : await stores.organizations.findMany(organizationIds);
  const budgetIds = distinct([
    ...members.map(({ budgetId }) => budgetId),
    ...teams.map(({ memberBudgetId }) => memberBudgetId),
    ...organizations.map(({ budgetId }) => budgetId),
    ...projects.map(({ budgetId }) => budgetId),
    ...keys.map(({ settings }) => settings.budgetId ?? null),
  ]);
  const budgets = budgetIds.length === 0 ? [] : await stores.budgets.findMany(budgetIds);
  return {
    users: byId(users),
    teams: byId(teams),
    members,
    organizations: byId(organizations),
    projects: byId(projects),
    budgets: byId(budgets),
  };
}

/** The greater of two spends; null when both are null. */
function greaterSpend(one: Usd | null, other: Usd | null): Usd | null {
  if (one === null) return other;
  return other !== null && other > one ? other : one;
}

/** The permission of an owner, as a member to spread; no member without one. */
const permissionOf = ({ objectPermission }: Pick<Team, 'objectPermission'>) =>
  objectPermission === null ? {} : { objectPermission };

type Grants = ReturnType<typeof modelGrantsOf>;

async function ownersOf(
  { hash, userId, teamId, settings }: VirtualKey,
  rows: OwnerRows,
  { granted, counted }: { readonly granted: Grants; readonly counted: CountedBudgets },
): Promise<KeyOwners> {
  const countedIn = async (row: Budget | null | undefined, kind: BudgetHolder['kind'], id: string) =>
    row === null || row === undefined ? null : counted.of({ kind, id }, row);
  const user = rows.users.get(userId ?? '') ?? null;
  const team = rows.teams.get(teamId ?? '') ?? null;
  const member = rows.members.find((one) => one.userId === userId && one.teamId === teamId) ?? null;
  const organization =
    rows.organizations.get((team === null ? settings.organizationId : team.organizationId) ?? '') ?? null;
  const project = rows.projects.get(settings.projectId ?? '') ?? null;
  const memberBudget = member === null ? null : rows.budgets.get(member.budgetId ?? team?.memberBudgetId ?? '');
  const [ownLimits, memberLimits, organizationLimits, projectLimits, ...windows] = await Promise.all([
    countedIn(rows.budgets.get(settings.budgetId ?? ''), 'key', hash),
    countedIn(memberBudget, 'member', memberId(teamId ?? '', userId ?? '')),
    countedIn(rows.budgets.get(organization?.budgetId ?? ''), 'organization', organization?.id ?? ''),
    countedIn(rows.budgets.get(project?.budgetId ?? ''), 'project', project?.id ?? ''),
    ...(team?.budgetLimits ?? []).map((window) => counted.window(team?.id ?? '', window)),
  ]);
  return {
    budget: ownLimits,
    project: project && {
      id: project.id,
      blocked: project.blocked,
      models: project.models,
      tags: project.tags,
      metadata: project.metadata,
      limits: projectLimits,
    },
    user: user && {
      id: user.id,
      role: user.role,
      models: user.models,
      limits: limitsOf(user),
      ...(Object.keys(user.modelMaxBudget).length === 0 ? {} : { modelMaxBudget: user.modelMaxBudget }),
      ...permissionOf(user),
      createdAt: user.createdAt,
      spentBefore: user.spentBefore ?? ZERO_USD,
    },
    team: team && {
      id: team.id,
      alias: team.alias,
      blocked: team.blocked,
      models: withGrantedModels(team.models, [...granted.key, ...granted.team]),
      modelAliases: team.modelAliases,
      metadata: team.metadata,
      ...(Object.keys(team.routerSettings).length === 0 ? {} : { routerSettings: team.routerSettings }),
      limits: limitsOf(team),
      ...permissionOf(team),
      createdAt: team.createdAt,
      spentBefore: team.spentBefore ?? ZERO_USD,
      ...(windows.length === 0 ? {} : { windows }),
    },
    member: member && {
      role: member.role,
      models: memberBudget?.allowedModels ?? [],
      limits: memberLimits && {
        ...memberLimits,
        spentBefore: greaterSpend(memberLimits.spentBefore, member.spentBefore),
      },
      hasOwnLimits: member.budgetId !== null,
    },
    organization: organization && {
      id: organization.id,
      models: organization.models,
      metadata: organization.metadata,
      ...permissionOf(organization),
      limits: organizationLimits,
    },
  };
}

const hasOwner = ({ userId, teamId, settings }: VirtualKey): boolean =>
  [userId, teamId, settings.budgetId, settings.projectId, settings.organizationId].some(
    (id) => nullIfBlank(id ?? null) !== null,
  );

/** Facts about models that are looked up for each call of a key. */
export type ModelDirectory = Required<Pick<VirtualKey, 'accessGroupsOf' | 'isTeamModel' | 'targetOf'>>;

/** A key with its owners, and with the models of its access groups. */
async function ownedKey(
  key: VirtualKey,
  {
    rows,
    groups,
    directory,
    counted,
  }: {
    readonly rows: OwnerRows;
    readonly groups: readonly AccessGroup[];
    readonly directory: ModelDirectory;
    readonly counted: CountedBudgets;
  },
): Promise<VirtualKey> {
  const granted = modelGrantsOf(groups, key);
  const agentGrants = agentGrantsOf(groups, key);
  const mcpServerIds = mcpGrantsOf(groups, key);
  const own = {
    ...key,
    models: withGrantedModels(key.models, granted.key),
    ...directory,
    ...(agentGrants.length === 0 ? {} : { agentGrants }),
    ...(mcpServerIds.length === 0 ? {} : { mcpServerIds }),
  };
  return hasOwner(key) ? { ...own, owners: await ownersOf(key, rows, { granted, counted }) } : own;
}

/** A store of keys with their owners. */
export interface OwnedKeys extends Pick<KeyStore, 'find' | 'findBySecrets'> {
  /** Adds the owners and access groups to keys. The result has the same map keys. */
  withOwners(found: ReadonlyMap<string, VirtualKey>): Promise<ReadonlyMap<string, VirtualKey>>;
}

/**
 * Reads keys together with their owners and access groups, so that a cached key and its owners have the same age (ADR
 * 0056). The access groups of models are looked up for each call.
 */
export function createOwnedKeys(
  keys: Pick<KeyStore, 'find' | 'findBySecrets'>,
  stores: OwnerStores,
  { counted, ...directory }: ModelDirectory & { readonly counted: CountedBudgets },
): OwnedKeys {
  async function withOwners(found: ReadonlyMap<string, VirtualKey>): Promise<ReadonlyMap<string, VirtualKey>> {
    if (found.size === 0) return found;
    const [rows, groups] = await Promise.all([
      readOwners(stores, [...found.values()].filter(hasOwner)),
      stores.accessGroups.all({ ids: null }),
    ]);
    const about = { rows, groups, directory, counted };
    return new Map(
      await Promise.all([...found].map(async ([hash, key]) => [hash, await ownedKey(key, about)] as const)),
    );
  }

  return {
    async find(secretHash) {
      const key = await keys.find(secretHash);
      return key === null ? null : ((await withOwners(new Map([[secretHash, key]]))).get(secretHash) ?? null);
    },
    findBySecrets: async (secretHashes) => withOwners(await keys.findBySecrets(secretHashes)),
    withOwners,
  };
}
