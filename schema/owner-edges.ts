import { listKeys } from '../resolvers/keys.ts';
import type { Scope } from '../resolvers/operation/scope.ts';
import { listTeamRows } from '../resolvers/owner-lists.ts';
import type { VirtualKey } from '../src/domain/keys/virtual-key.ts';
import type { Team } from '../src/domain/teams/team.ts';
import { builder } from './builder.ts';
import type { Connection, PageArgs } from './paging.ts';
import { OrganizationType, TeamType, UserType, VirtualKeyType } from './refs.ts';
import { askedRows, rowConnection, rowPageCost } from './row-pages.ts';

/** A page with the number of all its rows. */
interface CountedPage<Row> extends Connection<Row> {
  readonly totalCount: number;
}

const FIRST = 'Page size, 1 to 100; 100 when absent.';

const OwnedKeyConnectionType = builder.connectionObject(
  {
    type: VirtualKeyType,
    name: 'OwnedKeyConnection',
    description: 'One page of the keys of an owner.',
    fields: (connection) => ({
      totalCount: connection.int({
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
    fields: (connection) => ({
      totalCount: connection.int({
        description: 'Number of teams, on all pages.',
        resolve: (page) => (page as CountedPage<Team>).totalCount,
      }),
    }),
  },
  builder.edgeObject({ type: TeamType, name: 'OwnedTeamEdge', description: 'One team of a page.' }),
);

/** Keys of an owner that the caller may see, the newest first. */
async function keysOf(scope: Scope, args: PageArgs, owner: { readonly teamId?: string; readonly userId?: string }) {
  const page = askedRows(args);
  const { limit, from } = page;
  const { keys, totalCount, hasMore } = await listKeys(scope, {
    filter: { hash: null, alias: null, teamId: null, userId: null, blocked: null, status: null, ...owner },
    sort: 'created_at',
    descending: true,
    limit,
    from: from === 0 ? 0 : { createdAt: from.createdAt, hash: from.id },
  });
  return rowConnection({ nodes: keys.map(({ row }) => row), totalCount, hasMore }, page, ({ createdAt, hash }) => ({
    createdAt,
    id: hash,
  }));
}

builder.objectFields(TeamType, (t) => ({
  keys: t.field({
    type: OwnedKeyConnectionType,
    nullable: true,
    complexity: rowPageCost,
    description: 'Keys of the team that the caller may read, newest first.',
    args: {
      first: t.arg.int({ description: FIRST }),
      after: t.arg.string({ description: 'Returns keys after this cursor.' }),
    },
    resolve: ({ id }, args, { scope }) => keysOf(scope, args, { teamId: id }),
  }),
}));

builder.objectFields(UserType, (t) => ({
  keys: t.field({
    type: OwnedKeyConnectionType,
    nullable: true,
    complexity: rowPageCost,
    description: 'Keys of the user, newest first.',
    args: {
      first: t.arg.int({ description: FIRST }),
      after: t.arg.string({ description: 'Returns keys after this cursor.' }),
    },
    resolve: ({ id }, args, { scope }) => keysOf(scope, args, { userId: id }),
  }),
}));

builder.objectFields(OrganizationType, (t) => ({
  teams: t.field({
    type: OwnedTeamConnectionType,
    nullable: true,
    complexity: rowPageCost,
    description: 'Teams of the organization that the caller may read, newest first.',
    args: {
      first: t.arg.int({ description: FIRST }),
      after: t.arg.string({ description: 'Returns teams after this cursor.' }),
    },
    resolve: async ({ id }, args, { scope }) => {
      const page = askedRows(args);
      const asked = { organizationId: id, aliasPart: null };
      const found = await listTeamRows(scope, { asked, page: { ...page, descending: true } });
      return rowConnection(found, page, (team) => team);
    },
  }),
}));
