import {
  listBudgetRows,
  listCustomerRows,
  listOrganizationRows,
  listProjectRows,
  listTeamRows,
  listUserRows,
} from '../resolvers/owner-lists.ts';
import type { RequestedPage, FoundPage } from '../resolvers/operation/row-pages.ts';
import type { Scope } from '../resolvers/operation/scope.ts';
import { nullIfBlank } from '../src/domain/optional-text.ts';
import type { Team } from '../src/domain/teams/team.ts';
import { builder } from './base/builder.ts';
import { edgeType, pageType, totalCount } from './base/counted-pages.ts';
import { localId } from './base/global-id.ts';
import { excludes } from './key-list.ts';
import { RoleType } from './keys.ts';
import { rowOrder } from './base/order.ts';
import type { PageArgs } from './base/paging.ts';
import { BudgetType, CustomerType, OrganizationType, ProjectType, TeamType, UserType } from './base/refs.ts';
import { readOrderedPage, rowConnection, rowPageCost } from './base/row-pages.ts';

const ORDER = 'Newest first when absent.';

interface OrderedArgs<Sort extends string> extends PageArgs {
  readonly orderBy?:
    | { readonly field: Sort | 'created_at'; readonly direction: 'ascending' | 'descending' }
    | null
    | undefined;
}

/**
 * One page in the requested order. `texts` reads the text of a row by which each order sorts. The cursor of a row
 * contains this text. In the order `created_at`, it contains the creation time of the row.
 */
async function orderedPage<Row extends { readonly id: string; readonly createdAt: Date }, Sort extends string>(
  args: OrderedArgs<Sort>,
  list: (page: RequestedPage<Sort | 'created_at'>) => Promise<FoundPage<Row>>,
  texts: Readonly<Record<Sort, (row: Row) => string>>,
) {
  const page = readOrderedPage<Sort>(args, args.orderBy);
  const { sort } = page;
  return rowConnection(await list(page), page, (row) =>
    sort === 'created_at' ? row : { text: texts[sort](row), id: row.id },
  );
}

export const TeamFilterType = builder.inputType('TeamFilter', {
  description: 'Filter of teams. All conditions must match; blank text is ignored.',
  fields: (t) => ({
    organizationId: t.id({ description: 'Organization: global id or local id.' }),
    alias: t.string({ description: 'Text that the alias contains; letter case is ignored.' }),
    blocked: t.boolean({ description: 'Whether the team is blocked.' }),
  }),
});

export const TeamOrderType = rowOrder('Team', 'teams', {
  ALIAS: { value: 'team_alias', description: 'Alias; teams without one are the smallest.' },
});

/** A page of the teams that the caller may read; only those of `listedOrganizationId` when it is given. */
export async function teamPage(
  scope: Scope,
  {
    filter,
    ...args
  }: OrderedArgs<'team_alias'> & { readonly filter?: typeof TeamFilterType.$inferInput | null | undefined },
  listedOrganizationId?: string,
) {
  const filterOrganizationId = nullIfBlank(localId('Organization', filter?.organizationId));
  const conditions = {
    organizationId: listedOrganizationId ?? filterOrganizationId,
    aliasPart: nullIfBlank(filter?.alias),
    blocked: filter?.blocked ?? null,
  };
  const none: FoundPage<Team> = { nodes: [], totalCount: 0, hasMore: false };
  return await orderedPage(
    args,
    async (page) =>
      excludes(filterOrganizationId, listedOrganizationId)
        ? none
        : await listTeamRows(scope, { filter: conditions, page }),
    { team_alias: ({ alias }) => alias ?? '' },
  );
}

builder.queryField('teams', (t) =>
  t.connection(
    {
      type: TeamType,
      description:
        'Teams, newest first by default. Administrators see all teams. Other callers see the teams of their key, of its user, and of organizations that the user administers. At most 100 a page.',
      complexity: rowPageCost,
      args: {
        filter: t.arg({ type: TeamFilterType, description: 'All teams when absent.' }),
        orderBy: t.arg({ type: TeamOrderType, description: ORDER }),
      },
      resolve: (_root, args, { scope }) => teamPage(scope, args),
    },
    { ...pageType('Team', 'teams'), fields: (pageFields) => totalCount(pageFields, 'teams') },
    edgeType('Team', 'team'),
  ),
);

const UserFilterType = builder.inputType('UserFilter', {
  description: 'Filter of users. All conditions must match; blank text is ignored.',
  fields: (t) => ({
    email: t.string({ description: 'Text that the email contains; letter case is ignored.' }),
    alias: t.string({ description: 'Text that the alias contains; letter case is ignored.' }),
    role: t.field({ type: RoleType, description: 'Exact role.' }),
  }),
});

const UserOrderType = rowOrder('User', 'users', {
  EMAIL: { value: 'user_email', description: 'Email; users without one are the smallest.' },
  ALIAS: { value: 'user_alias', description: 'Alias; users without one are the smallest.' },
  SPEND: {
    value: 'spend',
    description: '`spendUsd`. When calls are made between two pages, a user may be repeated or left out.',
  },
});

builder.queryField('users', (t) =>
  t.connection(
    {
      type: UserType,
      description:
        'Users, newest first by default. For proxy administrators with full or read-only access. At most 100 a page.',
      complexity: rowPageCost,
      args: {
        filter: t.arg({ type: UserFilterType, description: 'All users when absent.' }),
        orderBy: t.arg({ type: UserOrderType, description: ORDER }),
      },
      resolve: (_root, { filter, ...args }, { scope }) =>
        orderedPage(
          args,
          (page) =>
            listUserRows(scope, {
              filter: {
                emailPart: nullIfBlank(filter?.email),
                aliasPart: nullIfBlank(filter?.alias),
                role: filter?.role ?? null,
              },
              page,
            }),
          {
            user_email: ({ email }) => email ?? '',
            user_alias: ({ alias }) => alias ?? '',
            spend: ({ windowSpend }) => String(windowSpend ?? 0n),
          },
        ),
    },
    { ...pageType('User', 'users'), fields: (pageFields) => totalCount(pageFields, 'users') },
    edgeType('User', 'user'),
  ),
);

const OrganizationFilterType = builder.inputType('OrganizationFilter', {
  description: 'Filter of organizations. All conditions must match; blank text is ignored.',
  fields: (t) => ({
    alias: t.string({ description: 'Text that the alias contains; letter case is ignored.' }),
  }),
});

const OrganizationOrderType = rowOrder('Organization', 'organizations', {
  ALIAS: { value: 'organization_alias', description: 'Alias.' },
});

builder.queryField('organizations', (t) =>
  t.connection(
    {
      type: OrganizationType,
      description:
        'Organizations, newest first by default: all for administrators, otherwise those of the user. At most 100 a page.',
      complexity: rowPageCost,
      args: {
        filter: t.arg({ type: OrganizationFilterType, description: 'All organizations when absent.' }),
        orderBy: t.arg({ type: OrganizationOrderType, description: ORDER }),
      },
      resolve: (_root, { filter, ...args }, { scope }) =>
        orderedPage(
          args,
          (page) =>
            listOrganizationRows(scope, {
              filter: { aliasPart: nullIfBlank(filter?.alias) },
              page,
            }),
          { organization_alias: ({ alias }) => alias },
        ),
    },
    { ...pageType('Organization', 'organizations'), fields: (pageFields) => totalCount(pageFields, 'organizations') },
    edgeType('Organization', 'organization'),
  ),
);

const ProjectFilterType = builder.inputType('ProjectFilter', {
  description: 'Filter of projects. All conditions must match; blank text is ignored.',
  fields: (t) => ({
    teamId: t.id({ description: 'Team: global id or local id.' }),
    alias: t.string({ description: 'Text that the alias contains; letter case is ignored.' }),
    blocked: t.boolean({ description: 'Whether the project is blocked.' }),
  }),
});

const ProjectOrderType = rowOrder('Project', 'projects', {
  ALIAS: { value: 'project_alias', description: 'Alias; projects without one are the smallest.' },
});

builder.queryField('projects', (t) =>
  t.connection(
    {
      type: ProjectType,
      description:
        'Projects, newest first by default: all for administrators, otherwise those of teams that the caller may read. At most 100 a page.',
      complexity: rowPageCost,
      args: {
        filter: t.arg({ type: ProjectFilterType, description: 'All projects when absent.' }),
        orderBy: t.arg({ type: ProjectOrderType, description: ORDER }),
      },
      resolve: (_root, { filter, ...args }, { scope }) =>
        orderedPage(
          args,
          (page) =>
            listProjectRows(scope, {
              filter: {
                teamId: nullIfBlank(localId('Team', filter?.teamId)),
                aliasPart: nullIfBlank(filter?.alias),
                blocked: filter?.blocked ?? null,
              },
              page,
            }),
          { project_alias: ({ alias }) => alias ?? '' },
        ),
    },
    { ...pageType('Project', 'projects'), fields: (pageFields) => totalCount(pageFields, 'projects') },
    edgeType('Project', 'project'),
  ),
);

const CustomerFilterType = builder.inputType('CustomerFilter', {
  description: 'Filter of customers. All conditions must match; blank text is ignored.',
  fields: (t) => ({
    customerId: t.string({ description: 'Text that the id contains; letter case is ignored.' }),
    alias: t.string({ description: 'Text that the alias contains; letter case is ignored.' }),
    budgetId: t.id({ description: 'Budget: global id or local id.' }),
    blocked: t.boolean({ description: 'Whether the customer is blocked.' }),
  }),
});

const CustomerOrderType = rowOrder('Customer', 'customers', {
  CUSTOMER_ID: { value: 'user_id', description: 'Id.' },
  ALIAS: { value: 'user_alias', description: 'Alias; customers without one are the smallest.' },
});

builder.queryField('customers', (t) =>
  t.connection(
    {
      type: CustomerType,
      description:
        'Customers, newest first by default. For proxy administrators with full or read-only access. At most 100 a page.',
      complexity: rowPageCost,
      args: {
        filter: t.arg({ type: CustomerFilterType, description: 'All customers when absent.' }),
        orderBy: t.arg({ type: CustomerOrderType, description: ORDER }),
      },
      resolve: (_root, { filter, ...args }, { scope }) =>
        orderedPage(
          args,
          (page) =>
            listCustomerRows(scope, {
              filter: {
                idPart: nullIfBlank(filter?.customerId),
                aliasPart: nullIfBlank(filter?.alias),
                budgetId: nullIfBlank(localId('Budget', filter?.budgetId)),
                blocked: filter?.blocked ?? null,
              },
              page,
            }),
          { user_id: ({ id }) => id, user_alias: ({ alias }) => alias ?? '' },
        ),
    },
    { ...pageType('Customer', 'customers'), fields: (pageFields) => totalCount(pageFields, 'customers') },
    edgeType('Customer', 'customer'),
  ),
);

const BudgetFilterType = builder.inputType('BudgetFilter', {
  description: 'Filter of budgets. All conditions must match; blank text is ignored.',
  fields: (t) => ({
    budgetId: t.string({ description: 'Text that the id contains; letter case is ignored.' }),
  }),
});

const BudgetOrderType = rowOrder('Budget', 'budgets', {
  BUDGET_ID: { value: 'budget_id', description: 'Id.' },
});

builder.queryField('budgets', (t) =>
  t.connection(
    {
      type: BudgetType,
      description:
        'Budgets, newest first by default. For proxy administrators with full or read-only access. At most 100 a page.',
      complexity: rowPageCost,
      args: {
        filter: t.arg({ type: BudgetFilterType, description: 'All budgets when absent.' }),
        orderBy: t.arg({ type: BudgetOrderType, description: ORDER }),
      },
      resolve: (_root, { filter, ...args }, { scope }) =>
        orderedPage(
          args,
          (page) =>
            listBudgetRows(scope, {
              filter: { idPart: nullIfBlank(filter?.budgetId) },
              page,
            }),
          { budget_id: ({ id }) => id },
        ),
    },
    { ...pageType('Budget', 'budgets'), fields: (pageFields) => totalCount(pageFields, 'budgets') },
    edgeType('Budget', 'budget'),
  ),
);
