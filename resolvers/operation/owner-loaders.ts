import DataLoader from 'dataloader';
import type { Spender } from '../../src/domain/admission/counters.ts';
import type { Budget } from '../../src/domain/budgets/budget.ts';
import type { Customer } from '../../src/domain/customers/customer.ts';
import { type Usd, ZERO_USD } from '../../src/domain/money.ts';
import type { Organization, OrganizationMember } from '../../src/domain/organizations/organization.ts';
import type { Project } from '../../src/domain/projects/project.ts';
import type { TeamMember } from '../../src/domain/teams/member.ts';
import { ALL_TEAMS, type Team } from '../../src/domain/teams/team.ts';
import type { User } from '../../src/domain/users/user.ts';
import type { CountedKind, SpendStart } from '../../src/domain/spend/spend-row.ts';
import type { Stores } from './stores.ts';

/** A key, an owner of keys, or a label of calls. */
interface SpenderId {
  readonly kind: Spender;
  readonly id: string;
}

interface SpendSince extends SpendStart {
  readonly kind: CountedKind;
}

type Rows<Row> = DataLoader<string, Row | null>;
type Lists<Row> = DataLoader<string, readonly Row[]>;

/** Owners of keys and what belongs to them, for any caller: operations check access. */
export interface OwnerLoaders {
  readonly teamById: Rows<Team>;
  readonly userById: Rows<User>;
  readonly organizationById: Rows<Organization>;
  readonly projectById: Rows<Project>;
  readonly customerById: Rows<Customer>;
  readonly budgetById: Rows<Budget>;
  readonly membersOfTeam: Lists<TeamMember>;
  readonly teamMembershipsOfUser: Lists<TeamMember>;
  readonly membersOfOrganization: Lists<OrganizationMember>;
  readonly organizationMembershipsOfUser: Lists<OrganizationMember>;
  readonly projectsOfTeam: Lists<Project>;
  readonly teamsOfOrganization: Lists<Team>;
  /** Total spend, over all budget windows. */
  readonly totalSpend: DataLoader<SpenderId, Usd, string>;
  /** Spend since the start of a window. */
  readonly spendSince: DataLoader<SpendSince, Usd, string>;
}

type ById<Row> = { findMany(ids: readonly string[]): Promise<readonly Row[]> };

function rowsOf<Row extends { readonly id: string }>(store: () => ById<Row>): Rows<Row> {
  return new DataLoader(async (ids) => {
    const found = new Map((await store().findMany(ids)).map((row) => [row.id, row]));
    return ids.map((id) => found.get(id) ?? null);
  });
}

function listsOf<Row>(
  read: (ids: readonly string[]) => Promise<readonly Row[]>,
  ownerOf: (row: Row) => string,
): Lists<Row> {
  return new DataLoader(async (ids) => {
    const found = Map.groupBy(await read(ids), ownerOf);
    return ids.map((id) => found.get(id) ?? []);
  });
}

const nameOf = ({ kind, id }: SpenderId): string => `${kind}:${id}`;

async function spendOf(stores: Stores, spenders: readonly SpenderId[]): Promise<readonly Usd[]> {
  const kinds = Map.groupBy(spenders, ({ kind }) => kind);
  const read = await Promise.all(
    [...kinds].map(async ([kind, all]) => {
      const ids = all.map(({ id }) => id);
      const totals = await (kind === 'key' ? stores.spend.totalsOf(ids) : stores.spend.totalsOfOwners(kind, ids));
      return [...totals].map(([id, usd]) => [nameOf({ kind, id }), usd] as const);
    }),
  );
  const totals = new Map(read.flat());
  return spenders.map((one) => totals.get(nameOf(one)) ?? ZERO_USD);
}

/** Spend since the start of each window: one statement for each kind. */
async function spendSinceOf(stores: Stores, windows: readonly SpendSince[]): Promise<readonly Usd[]> {
  const kinds = Map.groupBy(windows, ({ kind }) => kind);
  const read = await Promise.all(
    [...kinds].map(async ([kind, starts]) => {
      const totals = await stores.spend.totalsSince(kind, starts);
      return [...totals].map(([id, usd]) => [nameOf({ kind, id }), usd] as const);
    }),
  );
  const totals = new Map(read.flat());
  return windows.map((one) => totals.get(nameOf(one)) ?? ZERO_USD);
}

/** One DataLoader for each query of a store. */
export const createOwnerLoaders = (stores: Stores): OwnerLoaders => ({
  teamById: rowsOf(() => stores.teams),
  userById: rowsOf(() => stores.users),
  organizationById: rowsOf(() => stores.organizations),
  projectById: rowsOf(() => stores.projects),
  customerById: rowsOf(() => stores.customers),
  budgetById: rowsOf(() => stores.budgets),
  membersOfTeam: listsOf(
    (teamIds) => stores.teamMembers.all({ teamIds, userIds: null }),
    ({ teamId }) => teamId,
  ),
  teamMembershipsOfUser: listsOf(
    (userIds) => stores.teamMembers.all({ teamIds: null, userIds }),
    ({ userId }) => userId,
  ),
  membersOfOrganization: listsOf(
    (organizationIds) => stores.organizationMembers.all({ organizationIds, userIds: null }),
    ({ organizationId }) => organizationId,
  ),
  organizationMembershipsOfUser: listsOf(
    (userIds) => stores.organizationMembers.all({ organizationIds: null, userIds }),
    ({ userId }) => userId,
  ),
  projectsOfTeam: listsOf(
    (teamIds) => stores.projects.all({ teamIds }),
    ({ teamId }) => teamId,
  ),
  teamsOfOrganization: listsOf(
    async (ids) => (await Promise.all(ids.map((id) => stores.teams.all({ ...ALL_TEAMS, organizationId: id })))).flat(),
    ({ organizationId }) => organizationId ?? '',
  ),
  totalSpend: new DataLoader((spenders) => spendOf(stores, spenders), { cacheKeyFn: nameOf }),
  // A spender has only one current window, so the start is not part of the cache key.
  spendSince: new DataLoader((windows: readonly SpendSince[]) => spendSinceOf(stores, windows), { cacheKeyFn: nameOf }),
});

/** Clears all loaders after a change. */
export function clearOwners(owners: OwnerLoaders): void {
  for (const loader of Object.values(owners) as { clearAll(): unknown }[]) loader.clearAll();
}
