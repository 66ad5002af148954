import { getGlobalBudget, type GlobalBudget } from '../resolvers/global-budget.ts';
import { usdText } from '../src/domain/money.ts';
import { builder } from './base/builder.ts';

const GlobalBudgetType = builder.objectRef<GlobalBudget>('GlobalBudget').implement({
  description: 'Budget of all calls.',
  fields: (t) => ({
    limitUsd: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'Budget of a window, in USD.',
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

builder.queryField('globalBudget', (t) =>
  t.field({
    type: GlobalBudgetType,
    nullable: true,
    description:
      'Budget of all calls (`litellm_settings.max_budget`). Null for none. For proxy administrators, read-only ones too.',
    resolve: (_root, _args, { scope }) => getGlobalBudget(scope, undefined),
  }),
);
