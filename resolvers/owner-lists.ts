import type { Budget } from '../src/domain/budgets/budget.ts';
import type { Customer } from '../src/domain/customers/customer.ts';
import type { Organization } from '../src/domain/organizations/organization.ts';
import type { Project } from '../src/domain/projects/project.ts';
import type { RowStore } from '../src/domain/row-store.ts';
import type { SpendRow } from '../src/domain/spend/spend-row.ts';
import type { SpendPage } from '../src/domain/spend/spend-reports.ts';
import { ALL_TEAMS, type Team } from '../src/domain/teams/team.ts';
import { ALL_USERS, type User } from '../src/domain/users/user.ts';
import { teamReader, tenantViewer } from './operation/access.ts';
import { operation } from './operation/operation.ts';
import type { CustomerPlatform, SpendPlatform, TeamPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import { visibleOrganizationIds, visibleTeamIds } from './owner-nodes.ts';
import { type AskedFilter, visibleFilter } from './spend.ts';
import { seesAllSpend, spendReader } from './operation/spend-access.ts';

/** A page in the order of creation. */
export interface AskedPage {
  readonly descending: boolean;
  readonly limit: number;
  readonly from: 0 | { readonly createdAt: Date; readonly id: string };
}

export interface FoundPage<Row> {
  readonly nodes: readonly Row[];
  /** Number of rows that match, on all pages. */
  readonly totalCount: number;
  readonly hasMore: boolean;
}

async function pageOf<Row, Filter, Sort extends string>(
  store: RowStore<Row, Filter, Sort | 'created_at'>,
  filter: Filter,
  { limit, ...page }: AskedPage,
): Promise<FoundPage<Row>> {
  const [found, totalCount] = await Promise.all([
    store.list({ ...page, filter, sort: 'created_at', limit: limit + 1 }),
    store.count(filter),
  ]);
  return { nodes: found.slice(0, limit), totalCount, hasMore: found.length > limit };
}

/** Filter of teams; null conditions always match. */
export interface AskedTeams {
  readonly organizationId: string | null;
  readonly aliasPart: string | null;
}

/** Lists teams: administrators all, others those of their key and their user. */
export const listTeamRows = operation({
  name: 'listTeamRows',
  access: teamReader,
  run: async (
    scope: Scope<TeamPlatform>,
    { asked, page }: { readonly asked: AskedTeams; readonly page: AskedPage },
  ): Promise<FoundPage<Team>> =>
    pageOf(scope.platform.stores.teams, { ...ALL_TEAMS, ...asked, ids: await visibleTeamIds(scope) }, page),
});

/** Lists users. */
export const listUserRows = operation({
  name: 'listUserRows',
  access: tenantViewer,
  run: (
    { platform }: Scope<TeamPlatform>,
    { emailPart, page }: { readonly emailPart: string | null; readonly page: AskedPage },
  ): Promise<FoundPage<User>> => pageOf(platform.stores.users, { ...ALL_USERS, emailPart }, page),
});

/** Lists organizations: administrators all, others those of their user. */
export const listOrganizationRows = operation({
  name: 'listOrganizationRows',
  access: teamReader,
  run: async (
    scope: Scope<TeamPlatform>,
    { aliasPart, page }: { readonly aliasPart: string | null; readonly page: AskedPage },
  ): Promise<FoundPage<Organization>> =>
    pageOf(scope.platform.stores.organizations, { ids: await visibleOrganizationIds(scope), aliasPart }, page),
});

/** Lists projects: administrators all, others those of their teams. */
export const listProjectRows = operation({
  name: 'listProjectRows',
  access: teamReader,
  run: async (scope: Scope<TeamPlatform>, page: AskedPage): Promise<FoundPage<Project>> =>
    pageOf(scope.platform.stores.projects, { teamIds: await visibleTeamIds(scope) }, page),
});

/** Lists customers. */
export const listCustomerRows = operation({
  name: 'listCustomerRows',
  access: tenantViewer,
  run: ({ platform }: Scope<CustomerPlatform>, page: AskedPage): Promise<FoundPage<Customer>> =>
    pageOf(platform.stores.customers, { ids: null }, page),
});

/** Lists budgets. */
export const listBudgetRows = operation({
  name: 'listBudgetRows',
  access: tenantViewer,
  run: ({ platform }: Scope<CustomerPlatform>, page: AskedPage): Promise<FoundPage<Budget>> =>
    pageOf(platform.stores.budgets, { ids: null }, page),
});

/** A page of calls, the newest first. */
export interface AskedSpend extends Pick<SpendPage, 'limit' | 'from'> {
  readonly filter: AskedFilter;
}

/** Lists calls with usage and cost: administrators see all, users their own. */
export const listSpendRows = operation({
  name: 'listSpendRows',
  access: spendReader,
  async run(
    scope: Scope<SpendPlatform>,
    { filter: asked, limit, from }: AskedSpend,
  ): Promise<{ readonly nodes: readonly SpendRow[]; readonly hasMore: boolean }> {
    const { stores, records } = scope.platform;
    await records.readable();
    const filter = await visibleFilter(scope, asked, seesAllSpend);
    const rows = await stores.spendReports.rows({
      filter,
      sort: 'startTime',
      descending: true,
      limit: limit + 1,
      from,
    });
    return { nodes: rows.slice(0, limit), hasMore: rows.length > limit };
  },
});
