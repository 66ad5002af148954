import {
  listBudgetRows,
  listCustomerRows,
  listOrganizationRows,
  listProjectRows,
  listTeamRows,
  listUserRows,
} from '../resolvers/owner-lists.ts';
import { idOrNull } from '../src/domain/optional-id.ts';
import { builder } from './builder.ts';
import { BudgetType, CustomerType, OrganizationType, ProjectType, TeamType, UserType } from './refs.ts';
import { type AskedRows, askedRows, rowConnection, rowPageCost } from './row-pages.ts';

/** A page, the newest first. */
const newestFirst = ({ limit, from, isBackwards }: AskedRows) => ({ limit, from, descending: !isBackwards });

const TOTAL = 'Number of rows that match, on all pages.';

const TeamFilterType = builder.inputType('TeamFilter', {
  description: 'Filter of teams. All conditions must match; blank text is ignored.',
  fields: (t) => ({
    organizationId: t.id({ description: 'Exact organization.' }),
    alias: t.string({ description: 'Text that the alias contains, in any case.' }),
  }),
});

const UserFilterType = builder.inputType('UserFilter', {
  description: 'Filter of users. Blank text is ignored.',
  fields: (t) => ({ email: t.string({ description: 'Text that the email contains, in any case.' }) }),
});

const OrganizationFilterType = builder.inputType('OrganizationFilter', {
  description: 'Filter of organizations. Blank text is ignored.',
  fields: (t) => ({ alias: t.string({ description: 'Text that the alias contains, in any case.' }) }),
});

builder.queryField('teams', (t) =>
  t.connection(
    {
      type: TeamType,
      description:
        'Teams, newest first: all for administrators, those of the key and its user for others. At most 100 a page.',
      complexity: rowPageCost,
      args: { filter: t.arg({ type: TeamFilterType, description: 'All teams when absent.' }) },
      resolve: async (_root, { filter, ...args }, { scope }) => {
        const page = askedRows(args);
        return rowConnection(
          await listTeamRows(scope, {
            asked: { organizationId: idOrNull(filter?.organizationId), aliasPart: idOrNull(filter?.alias) },
            page: newestFirst(page),
          }),
          page,
          (row) => row,
        );
      },
    },
    {
      name: 'TeamConnection',
      description: 'One page of teams.',
      fields: (connection) => ({
        totalCount: connection.int({ description: TOTAL, resolve: ({ totalCount }) => totalCount }),
      }),
    },
    { name: 'TeamEdge', description: 'One team of a page.' },
  ),
);

builder.queryField('users', (t) =>
  t.connection(
    {
      type: UserType,
      description: 'Users, newest first. For proxy administrators. At most 100 a page.',
      complexity: rowPageCost,
      args: { filter: t.arg({ type: UserFilterType, description: 'All users when absent.' }) },
      resolve: async (_root, { filter, ...args }, { scope }) => {
        const page = askedRows(args);
        return rowConnection(
          await listUserRows(scope, { emailPart: idOrNull(filter?.email), page: newestFirst(page) }),
          page,
          (row) => row,
        );
      },
    },
    {
      name: 'UserConnection',
      description: 'One page of users.',
      fields: (connection) => ({
        totalCount: connection.int({ description: TOTAL, resolve: ({ totalCount }) => totalCount }),
      }),
    },
    { name: 'UserEdge', description: 'One user of a page.' },
  ),
);

builder.queryField('organizations', (t) =>
  t.connection(
    {
      type: OrganizationType,
      description:
        'Organizations, newest first: all for administrators, those of the user for others. At most 100 a page.',
      complexity: rowPageCost,
      args: { filter: t.arg({ type: OrganizationFilterType, description: 'All organizations when absent.' }) },
      resolve: async (_root, { filter, ...args }, { scope }) => {
        const page = askedRows(args);
        return rowConnection(
          await listOrganizationRows(scope, {
            aliasPart: idOrNull(filter?.alias),
            page: newestFirst(page),
          }),
          page,
          (row) => row,
        );
      },
    },
    {
      name: 'OrganizationConnection',
      description: 'One page of organizations.',
      fields: (connection) => ({
        totalCount: connection.int({ description: TOTAL, resolve: ({ totalCount }) => totalCount }),
      }),
    },
    { name: 'OrganizationEdge', description: 'One organization of a page.' },
  ),
);

builder.queryField('projects', (t) =>
  t.connection(
    {
      type: ProjectType,
      description:
        "Projects, newest first: all for administrators, those of the caller's teams for others." +
        ' At most 100 a page.',
      complexity: rowPageCost,
      resolve: async (_root, args, { scope }) => {
        const page = askedRows(args);
        return rowConnection(await listProjectRows(scope, newestFirst(page)), page, (row) => row);
      },
    },
    {
      name: 'ProjectConnection',
      description: 'One page of projects.',
      fields: (connection) => ({
        totalCount: connection.int({ description: TOTAL, resolve: ({ totalCount }) => totalCount }),
      }),
    },
    { name: 'ProjectEdge', description: 'One project of a page.' },
  ),
);

builder.queryField('customers', (t) =>
  t.connection(
    {
      type: CustomerType,
      description: 'Customers, newest first. For proxy administrators. At most 100 a page.',
      complexity: rowPageCost,
      resolve: async (_root, args, { scope }) => {
        const page = askedRows(args);
        return rowConnection(await listCustomerRows(scope, newestFirst(page)), page, (row) => row);
      },
    },
    {
      name: 'CustomerConnection',
      description: 'One page of customers.',
      fields: (connection) => ({
        totalCount: connection.int({ description: TOTAL, resolve: ({ totalCount }) => totalCount }),
      }),
    },
    { name: 'CustomerEdge', description: 'One customer of a page.' },
  ),
);

builder.queryField('budgets', (t) =>
  t.connection(
    {
      type: BudgetType,
      description: 'Budgets, newest first. For proxy administrators. At most 100 a page.',
      complexity: rowPageCost,
      resolve: async (_root, args, { scope }) => {
        const page = askedRows(args);
        return rowConnection(await listBudgetRows(scope, newestFirst(page)), page, (row) => row);
      },
    },
    {
      name: 'BudgetConnection',
      description: 'One page of budgets.',
      fields: (connection) => ({
        totalCount: connection.int({ description: TOTAL, resolve: ({ totalCount }) => totalCount }),
      }),
    },
    { name: 'BudgetEdge', description: 'One budget of a page.' },
  ),
);
