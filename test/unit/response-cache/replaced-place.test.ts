import { describe, expect, it, vi } from 'vitest';
import { type CacheSettings, callTypesOf } from '../../../src/domain/response-cache/cache-settings.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { createResponseCache } from '../../../src/runtime/response-cache/create-response-cache.ts';

const LOCAL: CacheSettings = {
  type: 'local',
  mode: 'default_on',
  scope: 'team',
  namespace: null,
  ttlSeconds: 60,
  callTypes: callTypesOf([]),
  maxMessages: null,
  server: null,
};
const redisAt = (url: string): CacheSettings => ({
  ...LOCAL,
  type: 'redis',
  server: { url: new Secret(url), prefix: 'p' },
});

describe('a cache of answers whose place is replaced', () => {
  it('ignores a later failure of the place before', async () => {
    const connecting = Promise.withResolvers<never>();
    const changed = vi.fn<(failure: unknown) => void>();
    const connect = () => connecting.promise;
    const cache = createResponseCache({ connect, serverOf: () => null, nowMs: () => 0, changed });
    cache.configure(redisAt('redis://a'));
    cache.configure(LOCAL);
    connecting.reject(new Error('late'));
    await connecting.promise.catch(() => undefined);
    cache.write('key', new Uint8Array([1]), 60);
    expect(cache.read('key')).toEqual(new Uint8Array([1]));
    expect(cache.status().counts.failures).toBe(0);
    expect(changed).not.toHaveBeenCalled();
  });

  it('reports the failure of each place', async () => {
    const changed = vi.fn<(failure: unknown) => void>();
    const connect = () => Promise.reject(new Error('no client'));
    const cache = createResponseCache({ connect, serverOf: () => null, nowMs: () => 0, changed });
    for (const url of ['redis://a', 'redis://b']) {
      cache.configure(redisAt(url));
      await expect.poll(() => cache.status().counts.failures).toBe(url === 'redis://a' ? 1 : 2);
    }
    expect(changed).toHaveBeenCalledTimes(2);
  });
});
