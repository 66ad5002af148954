import { findTeamRow } from '../resolvers/owner-nodes.ts';
import { currentTeamWindow, type TeamWindow } from '../src/domain/teams/team-windows.ts';
import { builder } from './base/builder.ts';
import { TeamType } from './base/refs.ts';
import { UNREADABLE } from './owners.ts';
import { windowLimitFields } from './base/shared-fields.ts';

const TeamBudgetWindowType = builder.objectRef<TeamWindow>('TeamBudgetWindow').implement({
  description: 'A budget of a window. The budget of the team applies, too.',
  fields: (t) => ({
    ...windowLimitFields(t),
    resetAt: t.field({
      type: 'DateTime',
      description: 'End of the current window.',
      resolve: (window) => currentTeamWindow(window, new Date()).resetAt,
    }),
  }),
});

builder.objectFields(TeamType, (t) => ({
  budgetLimits: t.field({
    type: [TeamBudgetWindowType],
    nullable: true,
    description: `Budgets of further windows, all of which apply. ${UNREADABLE}`,
    resolve: async ({ id }, _args, { scope }) => {
      const team = await findTeamRow(scope, id);
      return team && [...(team.budgetLimits ?? [])];
    },
  }),
}));
