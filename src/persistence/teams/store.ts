import type { TeamMemberStore } from '../../domain/teams/member.ts';
import type { TeamStore } from '../../domain/teams/team.ts';
import type { Database } from '../database/database.ts';
import { containing, createRowStore, matching, until } from '../database/row-store.ts';
import { TeamMemberEntity, TeamEntity } from './entities.ts';

export const createTeamStore = (database: Database): TeamStore =>
  createRowStore(database, {
    entity: TeamEntity,
    noun: 'team',
    audited: 'team',
    where: ({ ids, organizationId, aliasPart, blocked, resetDueBy }) => [
      ...matching({ id: ids, organizationId, blocked }),
      ...containing('alias', aliasPart),
      ...until('budgetResetAt', resetDueBy),
    ],
    sortColumns: { team_id: 'id', team_alias: "coalesce(alias, '')" },
    conflictText: ({ id }) => `Team id = ${id} already exists. Please use a different team id.`,
  });

export const createTeamMemberStore = (database: Database): TeamMemberStore =>
  createRowStore(database, {
    entity: TeamMemberEntity,
    noun: 'team member',
    audited: 'team_member',
    where: ({ teamIds, userIds }) => matching({ teamId: teamIds, userId: userIds }),
    conflictText: ({ userId }) => `User already in team. Member: user_id=${userId}.`,
  });
