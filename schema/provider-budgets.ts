import { listProviderBudgets, type ProviderBudget } from '../resolvers/provider-budgets.ts';
import { builder } from './base/builder.ts';
import { windowBudgetFields } from './base/shared-fields.ts';

/** Assumed number of budgets of a configuration. */
const USUAL_BUDGETS = 10;

const ProviderBudgetType = builder.objectRef<ProviderBudget>('ProviderBudget').implement({
  description: 'Budget of a provider. Deployments of a provider whose budget is used up are skipped.',
  fields: (t) => ({
    provider: t.exposeString('provider', { description: 'Name of the provider.' }),
    ...windowBudgetFields(t),
  }),
});

builder.queryField('providerBudgets', (t) =>
  t.field({
    type: [ProviderBudgetType],
    nullable: true,
    complexity: { field: 1, multiplier: USUAL_BUDGETS },
    description:
      'Budgets of providers. For proxy administrators with full or read-only access, and for keys with the permission `get_spend_routes`.',
    resolve: (_root, _args, { scope }) => listProviderBudgets(scope, undefined),
  }),
);
