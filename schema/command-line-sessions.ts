import {
  getCommandLineSessions,
  listCommandLineSessions,
  revokeCommandLineSession,
} from '../resolvers/command-line-sessions.ts';
import type { CommandLineSession } from '../src/domain/command-line-sessions/command-line-session.ts';
import { NotFound } from '../src/domain/errors.ts';
import { nullIfBlank } from '../src/domain/optional-text.ts';
import { builder } from './base/builder.ts';
import { edgeType, pageType, totalCount } from './base/counted-pages.ts';
import { localId } from './base/global-id.ts';
import { creationOrder } from './base/order.ts';
import { readOrderedPage, rowConnection, rowPageCost } from './base/row-pages.ts';

const TYPE = 'CommandLineSession';

const SessionType = builder.objectRef<CommandLineSession>(TYPE);

builder.node(SessionType, {
  description: 'A login of a command line with PKCE: a key that renews itself. Secrets are not shown.',
  id: { resolve: ({ id }) => id },
  async loadMany(ids, { scope }) {
    const byId = new Map((await getCommandLineSessions(scope, { ids })).map((one) => [one.id, one]));
    return ids.map((id) => byId.get(id) ?? null);
  },
  fields: (t) => ({
    userId: t.exposeID('userId', { description: 'Local id of the user that signed in.' }),
    teamId: t.exposeID('teamId', { nullable: true, description: 'Local id of the team of its keys. Null for none.' }),
    clientName: t.exposeString('clientName', { description: 'Name that the client chose, such as `litellm-cli`.' }),
    keyHash: t.exposeID('keyHash', { description: 'Hash of the current key, as in the list of keys.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the user signed in.' }),
    renewedAt: t.expose('renewedAt', { type: 'DateTime', description: 'When the key was last renewed.' }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      description:
        'When the session ends unless it is renewed: 30 days after `renewedAt`, at most 90 days after the sign-in.',
    }),
  }),
});

const FilterType = builder.inputType('CommandLineSessionFilter', {
  description: 'Filter of sessions.',
  fields: (t) => ({
    userId: t.id({ description: 'Sessions of this user: global id or local id. Blank text is ignored.' }),
  }),
});

const OrderType = creationOrder(TYPE, 'sessions');

builder.queryField('commandLineSessions', (t) =>
  t.connection(
    {
      type: SessionType,
      description:
        'Logins of command lines with PKCE of the user of the key, newest first by default. Administrators see all. At most 100 a page.',
      complexity: rowPageCost,
      args: {
        filter: t.arg({ type: FilterType, description: 'All sessions when absent.' }),
        orderBy: t.arg({ type: OrderType, description: 'Newest first when absent.' }),
      },
      resolve: async (_root, { filter, ...args }, { scope }) => {
        const page = readOrderedPage<never>(args, args.orderBy);
        const userId = nullIfBlank(filter?.userId);
        const user = userId === null ? null : localId('User', userId);
        return rowConnection(await listCommandLineSessions(scope, { userId: user, page }), page, (row) => row);
      },
    },
    { ...pageType(TYPE, 'sessions'), fields: (pageFields) => totalCount(pageFields, 'sessions') },
    edgeType(TYPE, 'session'),
  ),
);

const RevokeInput = builder.inputType('RevokeCommandLineSessionInput', {
  description: 'The session to end.',
  fields: (t) => ({ id: t.id({ required: true, description: 'Its global id, or its local id.' }) }),
});

builder.mutationField('revokeCommandLineSession', (t) =>
  t.field({
    type: SessionType,
    description: 'Ends a login of a command line: its keys and its refresh token are refused from now on.',
    args: { input: t.arg({ type: RevokeInput, required: true, description: 'The session.' }) },
    errors: {
      types: [NotFound],
      union: { name: 'RevokeCommandLineSessionResult', description: 'The ended session, or why it was not ended.' },
    },
    resolve: (_root, { input }, { scope }) => revokeCommandLineSession(scope, { id: localId(TYPE, input.id) }),
  }),
);
