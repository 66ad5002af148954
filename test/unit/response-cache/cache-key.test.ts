import { describe, expect, it } from 'vitest';
import type { Caller } from '../../../src/domain/caller.ts';
import type { ModelRequest } from '../../../src/domain/chat/chat.ts';
import { CHAT_COMPLETIONS } from '../../../src/domain/inference/endpoint.ts';
import type { CacheScope, CacheSettings } from '../../../src/domain/response-cache/cache-settings.ts';
import { cacheKeyOf } from '../../../src/gateway/response-cache/cache-key.ts';

const body = { model: 'chat', messages: [] };
const request: ModelRequest = {
  endpoint: CHAT_COMPLETIONS,
  model: 'chat',
  stream: false,
  includeUsage: false,
  bytes: new TextEncoder().encode(JSON.stringify(body)),
  body,
  callId: null,
  parent: null,
};
const callerOf = (teamId: string | null): Caller =>
  ({ keyHash: `key of ${teamId ?? 'nobody'}`, teamId, userId: null }) as unknown as Caller;

const keyOf = (scope: CacheScope, callersTeam: string | null, deployment: { readonly teamId?: string } = {}): string =>
  cacheKeyOf(
    { digest: (text) => text },
    {
      settings: { scope, namespace: null } as unknown as CacheSettings,
      caller: callerOf(callersTeam),
      request,
      deployment,
    },
  );

describe('the scope of a cache key', () => {
  it('all: one key for all callers, except for deployments of a team', () => {
    expect(keyOf('all', 'one')).toBe(keyOf('all', 'two'));
    expect(keyOf('all', 'one', { teamId: 'one' })).not.toBe(keyOf('all', 'two', { teamId: 'two' }));
    expect(keyOf('all', 'one', { teamId: 'one' })).not.toBe(keyOf('all', null));
  });

  it('team and key: teams have different keys', () => {
    expect(keyOf('team', 'one')).not.toBe(keyOf('team', 'two'));
    expect(keyOf('key', 'one')).not.toBe(keyOf('key', 'two'));
  });
});
