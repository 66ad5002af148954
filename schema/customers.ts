import { findBudgetRow, findCustomerRow, readTotalSpend, readWindowSpend } from '../resolvers/owner-nodes.ts';
import { builder } from './base/builder.ts';
import { nodesOf } from './base/node-loading.ts';
import { OwnerLimitsType } from './base/owner-limits.ts';
import { PERMISSION_OUTPUT } from './base/object-permission.ts';
import { BudgetType, CustomerType } from './base/refs.ts';
import { ownedSpendArgs, SpendRowConnectionType, spendPageCost, spendRowsOf } from './spend-rows.ts';
import { usdOrNull } from './base/decimal.ts';

builder.node(CustomerType, {
  description: 'An end user of a client application. Calls of the application name the end user, e.g. in `user`.',
  id: { resolve: ({ id }) => id },
  loadMany: nodesOf((id, { scope }) => findCustomerRow(scope, id)),
  fields: (t) => ({
    customerId: t.exposeID('id', { description: 'Local id, as calls name it.' }),
    alias: t.exposeString('alias', { nullable: true, description: 'Display name. Null when none is set.' }),
    blocked: t.exposeBoolean('blocked', { description: 'Whether calls that name the customer are refused.' }),
    defaultModel: t.exposeString('defaultModel', {
      nullable: true,
      description:
        'Model of calls whose own model has no deployment in the region of the customer. Null when none is set.',
    }),
    objectPermission: t.field({
      type: 'JSON',
      nullable: true,
      description: PERMISSION_OUTPUT,
      resolve: ({ objectPermission }) => objectPermission,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the customer was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When the customer was last changed.' }),
    budget: t.field({
      type: BudgetType,
      nullable: true,
      description: 'Its budget. Null when it has none.',
      resolve: ({ budgetId }, _args, { scope }) => (budgetId === null ? null : findBudgetRow(scope, budgetId)),
    }),
    spendUsd: t.field({
      type: 'Decimal',
      nullable: true,
      description:
        'Exact spend in USD in the current window of its budget. Before the first reset, this is the spend of all time. Null when it could not be read.',
      resolve: async ({ id, budgetId }, _args, { scope }) =>
        usdOrNull(await readWindowSpend(scope, { kind: 'end_user', id, budgetId })),
    }),
    totalSpendUsd: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'Spend of all time in USD, exact. Null when it could not be read.',
      resolve: async ({ id }, _args, { scope }) => usdOrNull(await readTotalSpend(scope, { kind: 'end_user', id })),
    }),
    spendRows: t.field({
      type: SpendRowConnectionType,
      nullable: true,
      complexity: spendPageCost,
      description: 'Calls that name the customer, newest first by default. Null when they could not be read.',
      args: ownedSpendArgs(),
      resolve: ({ id }, args, { scope }) => spendRowsOf(scope, args, { endUser: [id] }),
    }),
  }),
});

builder.node(BudgetType, {
  description:
    'Limits that keys, members, customers, organizations, projects and tags refer to. Teams refer to them for their members.',
  id: { resolve: ({ id }) => id },
  loadMany: nodesOf((id, { scope }) => findBudgetRow(scope, id)),
  fields: (t) => ({
    budgetId: t.exposeID('id', { description: 'Local id, by which other objects refer to the budget.' }),
    limits: t.field({ type: OwnerLimitsType, description: 'Budget and limits.', resolve: (budget) => budget }),
    allowedModels: t.stringList({
      description: 'Models that a team member with this budget may call; empty for all.',
      resolve: ({ allowedModels }) => [...allowedModels],
    }),
    temporaryIncreaseUsd: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'Temporary increase of the budget in USD. Null for none.',
      resolve: ({ tempBudgetIncrease }) => usdOrNull(tempBudgetIncrease),
    }),
    temporaryIncreaseExpiresAt: t.expose('tempBudgetExpiry', {
      type: 'DateTime',
      nullable: true,
      description: 'When the temporary increase expires. Null without one.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the budget was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When the budget was last changed.' }),
  }),
});
