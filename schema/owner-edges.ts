import type { VirtualKey } from '../src/domain/keys/virtual-key.ts';
import type { Team } from '../src/domain/teams/team.ts';
import { builder } from './base/builder.ts';
import type { CountedPage } from './base/counted-pages.ts';
import { keyPage, VirtualKeyFilterType, VirtualKeyOrderType } from './key-list.ts';
import { TeamFilterType, TeamOrderType, teamPage } from './owner-lists.ts';
import { OrganizationType, TeamType, UserType, VirtualKeyType } from './base/refs.ts';
import { rowPageCost } from './base/row-pages.ts';

const NEWEST = 'Newest first when absent.';
const FIRST = 'Page size, 1 to 100; 100 when absent.';

const OwnedKeyConnectionType = builder.connectionObject(
  {
    type: VirtualKeyType,
    name: 'OwnedKeyConnection',
    description: 'One page of the keys of an owner.',
    fields: (connectionFields) => ({
      totalCount: connectionFields.int({
        description: 'Number of keys, on all pages.',
        resolve: (page) => (page as CountedPage<VirtualKey>).totalCount,
      }),
    }),
  },
  builder.edgeObject({ type: VirtualKeyType, name: 'OwnedKeyEdge', description: 'One key of a page.' }),
);

const OwnedTeamConnectionType = builder.connectionObject(
  {
    type: TeamType,
    name: 'OwnedTeamConnection',
    description: 'One page of the teams of an organization.',
    fields: (connectionFields) => ({
      totalCount: connectionFields.int({
        description: 'Number of teams, on all pages.',
        resolve: (page) => (page as CountedPage<Team>).totalCount,
      }),
    }),
  },
  builder.edgeObject({ type: TeamType, name: 'OwnedTeamEdge', description: 'One team of a page.' }),
);

builder.objectFields(TeamType, (t) => ({
  keys: t.field({
    type: OwnedKeyConnectionType,
    nullable: true,
    complexity: rowPageCost,
    description: 'Keys of the team that the caller may read, newest first by default.',
    args: {
      first: t.arg.int({ description: FIRST }),
      after: t.arg.string({ description: 'Returns keys after this cursor.' }),
      filter: t.arg({ type: VirtualKeyFilterType, description: 'All keys when absent.' }),
      orderBy: t.arg({ type: VirtualKeyOrderType, description: NEWEST }),
    },
    resolve: ({ id }, args, { scope }) => keyPage(scope, args, { teamId: id }),
  }),
}));

builder.objectFields(UserType, (t) => ({
  keys: t.field({
    type: OwnedKeyConnectionType,
    nullable: true,
    complexity: rowPageCost,
    description: 'Keys of the user that the caller may read, newest first by default.',
    args: {
      first: t.arg.int({ description: FIRST }),
      after: t.arg.string({ description: 'Returns keys after this cursor.' }),
      filter: t.arg({ type: VirtualKeyFilterType, description: 'All keys when absent.' }),
      orderBy: t.arg({ type: VirtualKeyOrderType, description: NEWEST }),
    },
    resolve: ({ id }, args, { scope }) => keyPage(scope, args, { userId: id }),
  }),
}));

builder.objectFields(OrganizationType, (t) => ({
  teams: t.field({
    type: OwnedTeamConnectionType,
    nullable: true,
    complexity: rowPageCost,
    description: 'Teams of the organization that the caller may read, newest first by default.',
    args: {
      first: t.arg.int({ description: FIRST }),
      after: t.arg.string({ description: 'Returns teams after this cursor.' }),
      filter: t.arg({ type: TeamFilterType, description: 'All its teams when absent.' }),
      orderBy: t.arg({ type: TeamOrderType, description: NEWEST }),
    },
    resolve: ({ id }, args, { scope }) => teamPage(scope, args, id),
  }),
}));
