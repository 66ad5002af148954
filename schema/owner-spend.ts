import { findTeamRow, readWindowSpend } from '../resolvers/owner-nodes.ts';
import type { Scope } from '../resolvers/operation/scope.ts';
import { windowBudgetId } from '../resolvers/operation/window-spend.ts';
import { memberId } from '../src/domain/admission/counters.ts';
import { builder } from './base/builder.ts';
import { TeamMemberType } from './owners.ts';
import { OrganizationType, ProjectType, TeamType, UserType, VirtualKeyType } from './base/refs.ts';
import { usdOrNull } from './base/decimal.ts';

const windowSpend = async (scope: Scope, spender: Parameters<typeof readWindowSpend>[1]): Promise<string | null> =>
  usdOrNull(await readWindowSpend(scope, spender));

const IN_WINDOW = {
  type: 'Decimal',
  nullable: true,
  description:
    'Exact spend in USD in the current budget window. Before the first reset, this is the spend of all time. Null when the caller may not see it.',
} as const;

builder.objectFields(VirtualKeyType, (t) => ({
  spendUsd: t.field({
    ...IN_WINDOW,
    resolve: (key, _args, { scope }) =>
      windowSpend(scope, {
        kind: 'key',
        id: key.hash,
        budgetId: windowBudgetId(key),
        spentBefore: key.spentBefore,
      }),
  }),
}));

builder.objectFields(TeamType, (t) => ({
  spendUsd: t.field({
    ...IN_WINDOW,
    resolve: async ({ id }, _args, { scope }) => {
      const spentBefore = (await findTeamRow(scope, id))?.spentBefore ?? null;
      return windowSpend(scope, { kind: 'team', id, budgetId: null, spentBefore });
    },
  }),
}));

builder.objectFields(UserType, (t) => ({
  spendUsd: t.field({
    ...IN_WINDOW,
    resolve: ({ id, spentBefore }, _args, { scope }) =>
      windowSpend(scope, { kind: 'user', id, budgetId: null, spentBefore }),
  }),
}));

builder.objectFields(TeamMemberType, (t) => ({
  spendUsd: t.field({
    ...IN_WINDOW,
    resolve: async ({ teamId, userId, budgetId: ownBudgetId, spentBefore }, _args, { scope }) => {
      const budgetId = ownBudgetId ?? (await findTeamRow(scope, teamId))?.memberBudgetId ?? null;
      return windowSpend(scope, { kind: 'member', id: memberId(teamId, userId), budgetId, spentBefore });
    },
  }),
}));

builder.objectFields(OrganizationType, (t) => ({
  spendUsd: t.field({
    ...IN_WINDOW,
    resolve: ({ id, budgetId }, _args, { scope }) => windowSpend(scope, { kind: 'organization', id, budgetId }),
  }),
}));

builder.objectFields(ProjectType, (t) => ({
  spendUsd: t.field({
    ...IN_WINDOW,
    resolve: ({ id, budgetId }, _args, { scope }) => windowSpend(scope, { kind: 'project', id, budgetId }),
  }),
}));
