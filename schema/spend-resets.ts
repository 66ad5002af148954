import { resetAllSpend, type SpendResets } from '../resolvers/spend-resets.ts';
import { builder } from './base/builder.ts';
import { reloadOwnersAfter } from './base/owner-changes.ts';

const SpendResetsType = builder.objectRef<SpendResets>('SpendResets').implement({
  description: 'Numbers of the keys and teams whose spend was set to zero.',
  fields: (t) => ({
    keys: t.exposeInt('keys', { description: 'Keys whose spend was not zero before.' }),
    teams: t.exposeInt('teams', { description: 'Teams whose spend was not zero before.' }),
  }),
});

builder.mutationField('resetAllSpend', (t) =>
  t.field({
    type: SpendResetsType,
    description:
      'Sets the spend of all keys and teams to zero: their budgets count from this time. Reports still contain the earlier calls. For proxy administrators.',
    resolve: (_root, _args, { scope }) => reloadOwnersAfter(scope, resetAllSpend(scope, undefined)),
  }),
);
