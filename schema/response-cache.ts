import { clearCache, getResponseCache } from '../resolvers/response-cache.ts';
import type { CacheStatus } from '../src/domain/response-cache/response-cache.ts';
import { Unavailable } from '../src/domain/errors.ts';
import { builder } from './base/builder.ts';

const ResponseCacheType = builder.objectRef<CacheStatus>('ResponseCache').implement({
  description:
    'The cache of answers. Counts are those of this process since its start. Settings are null while the cache is off.',
  fields: (t) => ({
    isOn: t.boolean({ description: 'Whether answers are cached.', resolve: ({ settings }) => settings !== null }),
    type: t.string({
      nullable: true,
      description: 'Where answers are stored: `local` in the memory of each process, or `redis`.',
      resolve: ({ settings }) => settings?.type ?? null,
    }),
    mode: t.string({
      nullable: true,
      description:
        'Calls that use the cache: `default_on`, all calls, or `default_off`, only calls that ask for the cache.',
      resolve: ({ settings }) => settings?.mode ?? null,
    }),
    scope: t.string({
      nullable: true,
      description: 'Callers that share answers: `team`, `key` or `all`.',
      resolve: ({ settings }) => settings?.scope ?? null,
    }),
    namespace: t.string({
      nullable: true,
      description: 'First part of the keys of answers. Null for none.',
      resolve: ({ settings }) => settings?.namespace ?? null,
    }),
    ttlSeconds: t.float({
      nullable: true,
      description: 'How long an answer is stored, in seconds.',
      resolve: ({ settings }) => settings?.ttlSeconds ?? null,
    }),
    maxMessages: t.int({
      nullable: true,
      description: 'Conversations with more messages are not cached. Null for no limit.',
      resolve: ({ settings }) => settings?.maxMessages ?? null,
    }),
    callTypes: t.stringList({
      description: 'Call types whose answers are cached. Empty while the cache is off.',
      resolve: ({ settings }) => [...(settings?.callTypes ?? [])],
    }),
    hits: t.float({ description: 'Calls that got a cached answer.', resolve: ({ counts }) => counts.hits }),
    misses: t.float({
      description: 'Calls for which the cache had no answer.',
      resolve: ({ counts }) => counts.misses,
    }),
    stored: t.float({ description: 'Answers that were stored.', resolve: ({ counts }) => counts.stored }),
    dropped: t.float({
      description: 'Answers that were not stored, because too many writes were waiting.',
      resolve: ({ counts }) => counts.dropped,
    }),
    failures: t.float({
      description: 'Reads and writes that failed or took too long.',
      resolve: ({ counts }) => counts.failures,
    }),
    entries: t.int({
      nullable: true,
      description: 'Number of answers in the memory of this process. Null when answers are in Redis.',
      resolve: ({ size }) => size?.entries ?? null,
    }),
    bytes: t.float({
      nullable: true,
      description: 'Memory of the answers in this process, in bytes. Null when answers are in Redis.',
      resolve: ({ size }) => size?.bytes ?? null,
    }),
  }),
});

builder.queryField('responseCache', (t) =>
  t.field({
    type: ResponseCacheType,
    nullable: true,
    description: 'The cache of answers. For proxy administrators with full or read-only access.',
    resolve: (_root, _args, { scope }) => getResponseCache(scope, undefined),
  }),
);

const ClearedCacheType = builder.objectRef<{ readonly removed: number }>('ClearedResponseCache').implement({
  description: 'Result of a removal of cached answers.',
  fields: (t) => ({
    removed: t.exposeFloat('removed', { description: 'Number of removed answers.' }),
  }),
});

const ClearInput = builder.inputType('ClearResponseCacheInput', {
  description: 'The answers to remove.',
  fields: (t) => ({
    keys: t.stringList({
      description: 'Keys of the answers, as the header `x-litellm-cache-key` shows them. Null removes all answers.',
    }),
  }),
});

builder.mutationField('clearResponseCache', (t) =>
  t.field({
    type: ClearedCacheType,
    description: 'Removes cached answers. Other data of the Redis server stays. For proxy administrators.',
    args: { input: t.arg({ type: ClearInput, required: true, description: 'The answers.' }) },
    errors: {
      types: [Unavailable],
      union: {
        name: 'ClearResponseCacheResult',
        description: 'The removed answers, or why none was removed: there is no cache, or it does not answer.',
      },
    },
    resolve: async (_root, { input }, { scope }) => ({
      removed: await clearCache(scope, { keys: input.keys ?? null }),
    }),
  }),
);
