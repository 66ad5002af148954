import { getGlobalBudget } from '../resolvers/global-budget.ts';
import type { WindowBudget } from '../resolvers/operation/window-budgets.ts';
import { builder } from './base/builder.ts';
import { windowBudgetFields } from './base/shared-fields.ts';

const GlobalBudgetType = builder.objectRef<WindowBudget>('GlobalBudget').implement({
  description: 'Budget of all calls.',
  fields: windowBudgetFields,
});

builder.queryField('globalBudget', (t) =>
  t.field({
    type: GlobalBudgetType,
    nullable: true,
    description:
      'Budget of all calls (`litellm_settings.max_budget`). Null for none. For proxy administrators with full or read-only access, and for keys with the permission `get_spend_routes`.',
    resolve: (_root, _args, { scope }) => getGlobalBudget(scope, undefined),
  }),
);
