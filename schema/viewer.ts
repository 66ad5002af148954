import { getViewer } from '../resolvers/nodes.ts';
import type { Caller } from '../src/domain/caller.ts';
import { nullIfBlank } from '../src/domain/optional-text.ts';
import { builder } from './base/builder.ts';
import { RoleType } from './keys.ts';
import { teamOf, TeamType, VirtualKeyType } from './base/refs.ts';

const ViewerType = builder.objectRef<Caller>('Viewer').implement({
  description: 'The caller, by the key of the request.',
  fields: (t) => ({
    role: t.expose('role', { type: RoleType, description: 'Rights of the key.' }),
    keyHash: t.exposeID('keyHash', { description: 'Hash of the key.' }),
    key: t.field({
      type: VirtualKeyType,
      nullable: true,
      description: 'The key. Null for the admin key, which is not stored.',
      resolve: ({ key }) => key,
    }),
    team: t.field({
      type: TeamType,
      nullable: true,
      description: 'Team of the key. Null when it has none.',
      resolve: ({ teamId }) => teamOf(teamId),
    }),
    userId: t.id({
      nullable: true,
      description: 'User of the key. Null when it has none.',
      resolve: ({ userId }) => nullIfBlank(userId),
    }),
  }),
});

builder.queryField('viewer', (t) =>
  t.field({
    type: ViewerType,
    nullable: true,
    description: 'The caller. Null without a key.',
    resolve: (_root, _args, { scope }) => getViewer(scope, undefined),
  }),
);
