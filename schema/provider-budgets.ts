import { listProviderBudgets, type ProviderBudget } from '../resolvers/provider-budgets.ts';
import { usdText } from '../src/domain/money.ts';
import { builder } from './base/builder.ts';

/** Assumed number of budgets of a configuration. */
const USUAL_BUDGETS = 10;

const ProviderBudgetType = builder.objectRef<ProviderBudget>('ProviderBudget').implement({
  description: 'Budget of a provider. Deployments of a provider whose budget is used up are skipped.',
  fields: (t) => ({
    provider: t.exposeString('provider', { description: 'Name of the provider.' }),
    limitUsd: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'Budget of a window, in USD. Null refuses nothing.',
      resolve: ({ limit }) => (limit === null ? null : usdText(limit)),
    }),
    duration: t.exposeString('duration', {
      nullable: true,
      description: 'Interval at which the spend is reset, as `1d`. Null for never.',
    }),
    spentUsd: t.field({
      type: 'Decimal',
      description: 'Cost of the calls of the current window, in USD, exact.',
      resolve: ({ spent }) => usdText(spent),
    }),
    resetAt: t.expose('resetAt', {
      type: 'DateTime',
      nullable: true,
      description: 'End of the current window. Null for a budget that is never reset.',
    }),
  }),
});

builder.queryField('providerBudgets', (t) =>
  t.field({
    type: [ProviderBudgetType],
    nullable: true,
    complexity: { field: 1, multiplier: USUAL_BUDGETS },
    description: 'Budgets of providers. For proxy administrators, read-only ones too.',
    resolve: (_root, _args, { scope }) => listProviderBudgets(scope, undefined),
  }),
);
