import { TRACING_KEY_LIMITS } from '../src/domain/lens/text-limits.ts';
import {
  createTracingKey,
  deleteTracingKey,
  type IssuedTracingKey,
  listTracingKeys,
} from '../resolvers/lens-tracing-keys.ts';
import { Conflict, InvalidInput, NotFound } from '../src/domain/errors.ts';
import type { TracingKey } from '../src/domain/lens/tracing-key.ts';
import { nullIfBlank } from '../src/domain/optional-text.ts';
import { builder } from './base/builder.ts';
import { localId } from './base/global-id.ts';
import { nodesOf, readableOrNull } from './base/node-loading.ts';
import { pageCost } from './base/paging.ts';

const TracingKeyType = builder.objectRef<TracingKey>('TracingKey');

builder.node(TracingKeyType, {
  description: 'A key that may only send traces.',
  id: { resolve: ({ id }) => id },
  loadMany: nodesOf(async (id, { scope }) => {
    const keys = await readableOrNull(() => listTracingKeys(scope, undefined));
    return keys?.find((key) => key.id === id) ?? null;
  }),
  fields: (t) => ({
    tracingKeyId: t.exposeID('id', { description: 'Its id on the HTTP routes.' }),
    name: t.exposeString('name', { description: 'Its name.' }),
    teamId: t.id({
      nullable: true,
      description: 'Team that owns its traces. Null without one.',
      resolve: ({ teamId }) => nullIfBlank(teamId),
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
    key: t.expose('key', { type: TracingKeyType, description: 'The key.' }),
  }),
});

builder.queryField('tracingKeys', (t) =>
  t.field({
    type: [TracingKeyType],
    complexity: pageCost,
    description: 'All tracing keys, the oldest first. For proxy administrators with full or read-only access.',
    resolve: async (_root, _args, { scope }) => [...(await listTracingKeys(scope, undefined))],
  }),
);

const CreateInput = builder.inputType('CreateTracingKeyInput', {
  description: 'A new tracing key.',
  fields: (t) => ({
    name: t.string({
      required: true,
      defaultValue: 'Agent tracing',
      description: `Its name, 1 to ${TRACING_KEY_LIMITS.name} characters.`,
    }),
    teamId: t.id({ description: 'Team that owns its traces: global id or local id.' }),
    expiresAt: t.field({ type: 'DateTime', description: 'When it expires; never when absent.' }),
  }),
});

const DeleteInput = builder.inputType('DeleteTracingKeyInput', {
  description: 'The tracing key to delete.',
  fields: (t) => ({ id: t.id({ required: true, description: 'Its global id, or its id on the HTTP routes.' }) }),
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
      createTracingKey(scope, { name, teamId: localId('Team', teamId ?? ''), expiresAt: expiresAt ?? null }),
  }),
  deleteTracingKey: t.field({
    type: TracingKeyType,
    description: 'Deletes a tracing key. For proxy administrators.',
    args: { input: t.arg({ type: DeleteInput, required: true, description: 'The key.' }) },
    errors: {
      types: [NotFound],
      union: { name: 'DeleteTracingKeyResult', description: 'The deleted key, or why it was not deleted.' },
    },
    async resolve(_root, { input }, { scope }) {
      const removed = await deleteTracingKey(scope, { id: localId('TracingKey', input.id) });
      if (removed === null) throw new NotFound('tracing key', input.id, 'Tracing key not found');
      return removed;
    },
  }),
}));
