import { InvalidInput } from '../src/domain/errors.ts';
import type { Usd } from '../src/domain/money.ts';
import { windowSpendOf } from './operation/user-views.ts';
import type { Budget, BudgetFilter, BudgetSort } from '../src/domain/budgets/budget.ts';
import type { Customer, CustomerFilter, CustomerSort } from '../src/domain/customers/customer.ts';
import type { Organization, OrganizationSort } from '../src/domain/organizations/organization.ts';
import type { Project, ProjectFilter, ProjectSort } from '../src/domain/projects/project.ts';
import type { SpendRow } from '../src/domain/spend/spend-row.ts';
import type { SpendPage } from '../src/domain/spend/spend-reports.ts';
import { ALL_TEAMS, type Team, type TeamFilter, type TeamSort } from '../src/domain/teams/team.ts';
import { ALL_USERS, type User, type UserFilter, type UserSort } from '../src/domain/users/user.ts';
import { teamReader, tenantViewer } from './operation/access.ts';
import { operation } from './operation/operation.ts';
import type { BudgetPlatform, CustomerPlatform, SpendPlatform, TeamPlatform } from './operation/platform.ts';
import { type FilteredPage, type FoundPage, pageOf } from './operation/row-pages.ts';
import type { Scope } from './operation/scope.ts';
import { type FilterRequest, visibleFilter } from './operation/spend-filter.ts';
import { seesAllSpend, spendReader } from './operation/spend-access.ts';
import { visibleOrganizationIds, visibleTeamIds } from './operation/visible-owners.ts';

/**
 * Lists teams. Administrators see all teams. Other callers see the team of their key, the teams of their user, and
 * teams of organizations that the user administers.
 */
export const listTeamRows = operation({
  name: 'listTeamRows',
  access: teamReader,
  async run(
    scope: Scope<TeamPlatform>,
    { filter, page }: FilteredPage<Pick<TeamFilter, 'organizationId' | 'aliasPart' | 'blocked'>, TeamSort>,
  ): Promise<FoundPage<Team>> {
    const visible = { ...ALL_TEAMS, ...filter, ids: await visibleTeamIds(scope) };
    const found = await pageOf(scope.platform.stores.teams, visible, page);
    for (const team of found.nodes) scope.loaders.owners.teamById.prime(team.id, team);
    return found;
  },
});

/** A user of a list. */
export interface ListedUser extends User {
  /** Spend in the user's budget window; null unless the list is sorted by spend. */
  readonly windowSpend: Usd | null;
}

const isAmount = (text: string): boolean => /^-?\d{1,30}$/.test(text);

/** Lists users. Throws InvalidInput for a list by spend whose cursor contains no amount. */
export const listUserRows = operation({
  name: 'listUserRows',
  access: tenantViewer,
  async run(
    { platform }: Scope<TeamPlatform>,
    { filter, page }: FilteredPage<Pick<UserFilter, 'emailPart' | 'aliasPart' | 'role'>, UserSort>,
  ): Promise<FoundPage<ListedUser>> {
    const { users, spend } = platform.stores;
    const bySpend = page.sort === 'spend';
    const cursorText = page.from !== 0 && 'text' in page.from ? page.from.text : null;
    if (bySpend && cursorText !== null && !isAmount(cursorText)) throw new InvalidInput('Invalid cursor.');
    const found = await pageOf(users, { ...ALL_USERS, ...filter }, page);
    const ids = bySpend ? found.nodes.map(({ id }) => id) : [];
    const totals = ids.length === 0 ? null : await spend.totalsOfOwners('user', ids);
    const nodes = found.nodes.map((user) => ({
      ...user,
      windowSpend: totals === null ? null : windowSpendOf(user, totals),
    }));
    return { ...found, nodes };
  },
});

/** Lists organizations. Administrators see all organizations, other callers those of their user. */
export const listOrganizationRows = operation({
  name: 'listOrganizationRows',
  access: teamReader,
  run: async (
    scope: Scope<TeamPlatform>,
    { filter, page }: FilteredPage<{ readonly aliasPart: string | null }, OrganizationSort>,
  ): Promise<FoundPage<Organization>> =>
    pageOf(scope.platform.stores.organizations, { ids: await visibleOrganizationIds(scope), ...filter }, page),
});

/** Lists projects. Administrators see all projects, other callers those of teams that they see. */
export const listProjectRows = operation({
  name: 'listProjectRows',
  access: teamReader,
  run: async (
    scope: Scope<TeamPlatform>,
    { filter, page }: FilteredPage<Omit<ProjectFilter, 'teamIds'>, ProjectSort>,
  ): Promise<FoundPage<Project>> =>
    pageOf(scope.platform.stores.projects, { ...filter, teamIds: await visibleTeamIds(scope) }, page),
});

/** Lists customers. */
export const listCustomerRows = operation({
  name: 'listCustomerRows',
  access: tenantViewer,
  run: (
    { platform }: Scope<CustomerPlatform>,
    { filter, page }: FilteredPage<Omit<CustomerFilter, 'ids'>, CustomerSort>,
  ): Promise<FoundPage<Customer>> => pageOf(platform.stores.customers, { ...filter, ids: null }, page),
});

/** Lists budgets. */
export const listBudgetRows = operation({
  name: 'listBudgetRows',
  access: tenantViewer,
  run: (
    { platform }: Scope<BudgetPlatform>,
    { filter, page }: FilteredPage<Omit<BudgetFilter, 'ids'>, BudgetSort>,
  ): Promise<FoundPage<Budget>> => pageOf(platform.stores.budgets, { ...filter, ids: null }, page),
});

/** A page of calls in an order. */
export interface SpendRequest extends Omit<SpendPage, 'filter'> {
  readonly filter: FilterRequest;
}

/**
 * Lists calls with usage and cost. `seesAllSpend` decides who sees all calls; other callers see those of their key and
 * user.
 */
export const listSpendRows = operation({
  name: 'listSpendRows',
  access: spendReader,
  async run(
    scope: Scope<SpendPlatform>,
    { filter, limit, ...page }: SpendRequest,
  ): Promise<{ readonly nodes: readonly SpendRow[]; readonly hasMore: boolean }> {
    const { stores, records } = scope.platform;
    await records.readable();
    const visible = await visibleFilter(scope, filter, seesAllSpend);
    const rows = await stores.spendReports.rows({ ...page, filter: visible, limit: limit + 1 });
    return { nodes: rows.slice(0, limit), hasMore: rows.length > limit };
  },
});
