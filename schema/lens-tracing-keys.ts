import {
  createTracingKey,
  deleteTracingKey,
  type IssuedTracingKey,
  listTracingKeys,
} from '../resolvers/lens-tracing-keys.ts';
import { Conflict, InvalidInput } from '../src/domain/errors.ts';
import type { TracingKey } from '../src/domain/lens/tracing-key.ts';
import { idOrNull } from '../src/domain/optional-id.ts';
import { builder } from './builder.ts';
import { pageCost } from './paging.ts';

const TracingKeyType = builder.objectRef<TracingKey>('TracingKey').implement({
  description: 'A key that may only send traces.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id.' }),
    name: t.exposeString('name', { description: 'Its name.' }),
    teamId: t.id({
      nullable: true,
      description: 'Team that owns its traces. Null without one.',
      resolve: ({ teamId }) => idOrNull(teamId),
    }),
    keyHash: t.exposeID('tokenHash', {
      description: 'SHA-256 hex of its token; `keyHash` of the traces that it sends.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it expires. Null for never.',
    }),
  }),
});

const IssuedType = builder.objectRef<IssuedTracingKey>('IssuedTracingKey').implement({
  description: 'A new tracing key.',
  fields: (t) => ({
    token: t.exposeString('token', { description: 'The token. It cannot be read again.' }),
    key: t.expose('key', { type: TracingKeyType, description: 'Its facts.' }),
  }),
});

builder.queryField('tracingKeys', (t) =>
  t.field({
    type: [TracingKeyType],
    complexity: pageCost,
    description: 'All tracing keys, the oldest first. For administrators.',
    resolve: async (_root, _args, { scope }) => [...(await listTracingKeys(scope, undefined))],
  }),
);

const CreateInput = builder.inputType('CreateTracingKeyInput', {
  description: 'A new tracing key.',
  fields: (t) => ({
    name: t.string({ required: true, defaultValue: 'Agent tracing', description: 'Its name.' }),
    teamId: t.id({ description: 'Team that owns its traces.' }),
    expiresAt: t.field({ type: 'DateTime', description: 'When it expires; never when absent.' }),
  }),
});

const DeleteInput = builder.inputType('DeleteTracingKeyInput', {
  description: 'The tracing key to delete.',
  fields: (t) => ({ id: t.id({ required: true, description: 'Its id.' }) }),
});

builder.mutationFields((t) => ({
  createTracingKey: t.field({
    type: IssuedType,
    description: 'Creates a key that may only send traces. For proxy administrators.',
    args: { input: t.arg({ type: CreateInput, required: true, description: 'The key.' }) },
    errors: {
      types: [InvalidInput, Conflict],
      union: { name: 'CreateTracingKeyResult', description: 'The key, or why it was not created.' },
    },
    resolve: (_root, { input: { name, teamId, expiresAt } }, { scope }) =>
      createTracingKey(scope, { name, teamId: teamId ?? '', expiresAt: expiresAt ?? null }),
  }),
  deleteTracingKey: t.field({
    type: TracingKeyType,
    nullable: true,
    description: 'Deletes a tracing key; null when there is none. For proxy administrators.',
    args: { input: t.arg({ type: DeleteInput, required: true, description: 'The key.' }) },
    resolve: (_root, { input }, { scope }) => deleteTracingKey(scope, { id: input.id }),
  }),
}));
