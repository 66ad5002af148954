import { watchBudgets, watchSpend } from '../resolvers/spend-feeds.ts';
import type { BudgetScope } from '../src/domain/admission/scopes.ts';
import type { BudgetAlert } from '../src/domain/budgets/budget-alert.ts';
import type { Delivery } from '../src/domain/bus.ts';
import type { SpendRow } from '../src/domain/spend/spend-row.ts';
import { builder } from './base/builder.ts';
import { droppedUpdates } from './base/shared-fields.ts';
import { SpendRowType } from './base/refs.ts';

const SpendUpdateType = builder.objectRef<Delivery<SpendRow>>('SpendUpdate').implement({
  description: 'A call whose usage and cost were just settled.',
  fields: (t) => ({
    row: t.field({
      type: SpendRowType,
      description: 'Usage and cost of the call. It is stored shortly after.',
      resolve: ({ event }) => event,
    }),
    ...droppedUpdates(t),
  }),
});

const BudgetScopeType = builder.enumType('BudgetScope', {
  description: 'Kind of the owner of a budget.',
  values: {
    KEY: { value: 'key', description: 'A key.' },
    KEY_WINDOW: { value: 'key_window', description: 'A further budget window of a key.' },
    TEAM: { value: 'team', description: 'A team.' },
    TEAM_WINDOW: { value: 'team_window', description: 'A further budget window of a team.' },
    TEAM_MEMBER: { value: 'team_member', description: 'A member of a team.' },
    USER: { value: 'user', description: 'A user.' },
    END_USER: { value: 'end_user', description: 'A customer.' },
    ORGANIZATION: { value: 'organization', description: 'An organization.' },
    PROJECT: { value: 'project', description: 'A project.' },
    TAG: { value: 'tag', description: 'A tag.' },
    ACCESS_GROUP: { value: 'access_group', description: 'An access group.' },
    GLOBAL: { value: 'global', description: 'The gateway.' },
    PROVIDER: { value: 'provider', description: 'A provider.' },
    DEPLOYMENT: { value: 'deployment', description: 'A deployment.' },
    MODEL_PER_KEY: { value: 'model_per_key', description: 'A model, for one key.' },
    MODEL_PER_USER: { value: 'model_per_user', description: 'A model, for one user.' },
    MODEL_PER_TEAM: { value: 'model_per_team', description: 'A model, for one team.' },
    MODEL_PER_END_USER: { value: 'model_per_end_user', description: 'A model, for one customer.' },
  } as const satisfies Record<Uppercase<BudgetScope>, { readonly value: BudgetScope; readonly description: string }>,
});

const BudgetAlertKindType = builder.enumType('BudgetAlertKind', {
  description: 'What happened to a budget.',
  values: {
    REFUSED: { value: 'refused', description: 'The budget refused a call.' },
    SOFT_BUDGET: { value: 'soft_budget', description: 'The soft budget was crossed. It refuses no call.' },
  } as const,
});

const BudgetAlertType = builder.objectRef<Delivery<BudgetAlert>>('BudgetAlert').implement({
  description: 'A budget that refused a call, or a soft budget that was crossed.',
  fields: (t) => ({
    kind: t.field({ type: BudgetAlertKindType, description: 'What happened.', resolve: ({ event }) => event.kind }),
    at: t.field({
      type: 'DateTime',
      description: 'When the call was refused, or the soft budget crossed.',
      resolve: ({ event }) => event.at,
    }),
    scope: t.field({
      type: BudgetScopeType,
      description: 'Kind of the owner of the budget.',
      resolve: ({ event }) => event.scope,
    }),
    ownerId: t.id({
      description: 'Id within the scope, e.g. the hash of a key or the id of a team.',
      resolve: ({ event }) => event.id,
    }),
    message: t.string({ description: 'What happened, with spend and budget.', resolve: ({ event }) => event.message }),
    keyHash: t.id({
      nullable: true,
      description: 'Key of the call. Null for the admin key, and for calls without a key.',
      resolve: ({ event }) => event.keyHash,
    }),
    ...droppedUpdates(t),
  }),
});

builder.subscriptionFields((t) => ({
  spendUpdates: t.field({
    type: SpendUpdateType,
    description: 'Calls as they are settled. Administrators receive all calls, others those of their team or key.',
    subscribe: (_root, _args, { scope }) => watchSpend(scope, undefined),
    resolve: (delivery) => delivery,
  }),
  budgetAlerts: t.field({
    type: BudgetAlertType,
    description:
      'Budgets that refuse calls, and soft budgets that are crossed. Each process sends at most one alert a minute for each refusing budget. It sends one alert for each budget window whose soft budget is crossed. For proxy administrators with full or read-only access.',
    subscribe: (_root, _args, { scope }) => watchBudgets(scope, undefined),
    resolve: (delivery) => delivery,
  }),
}));
