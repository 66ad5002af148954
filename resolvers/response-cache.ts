import type { JsonObject } from '../src/domain/json-object.ts';
import type { CacheType } from '../src/domain/response-cache/cache-settings.ts';
import type { CacheServerInfo, CacheStatus } from '../src/domain/response-cache/response-cache.ts';
import { tenantAdmin, tenantViewer } from './operation/access.ts';
import type { ResponseCachePlatform } from './operation/health-platform.ts';
import { operation } from './operation/operation.ts';
import type { Scope } from './operation/scope.ts';

/** Reads settings and counts of the cache of answers. The settings are null while the cache is off. */
export const getResponseCache = operation({
  name: 'getResponseCache',
  access: tenantViewer,
  run: ({ platform }: Scope<ResponseCachePlatform>, _input: undefined): CacheStatus => platform.responseCache.status(),
});

/** Type of a cache that passed the test, and the state of the cache. */
export interface TestedCache {
  readonly type: CacheType;
  readonly status: CacheStatus;
}

/** Stores, reads and removes a test entry. Throws Unavailable while the cache is off, and when it does not answer. */
export const checkCache = operation({
  name: 'checkCache',
  access: tenantViewer,
  async run({ platform }: Scope<ResponseCachePlatform>, _input: undefined): Promise<TestedCache> {
    const type = await platform.responseCache.ping();
    return { type, status: platform.responseCache.status() };
  },
});

/**
 * Reads facts of the Redis server of the cache. Throws Unavailable as `checkCache`, and for a cache that is not in
 * Redis.
 */
export const getCacheServer = operation({
  name: 'getCacheServer',
  access: tenantViewer,
  run: ({ platform }: Scope<ResponseCachePlatform>, _input: undefined): Promise<CacheServerInfo> =>
    platform.responseCache.serverInfo(),
});

/**
 * Removes the answers with these keys, or all answers when `keys` is null. Returns the number of removed answers. Other
 * data of the Redis server stays. Throws Unavailable as `checkCache`.
 */
export const clearCache = operation({
  name: 'clearCache',
  access: tenantAdmin,
  run: (
    { platform }: Scope<ResponseCachePlatform>,
    { keys }: { readonly keys: readonly string[] | null },
  ): Promise<number> => (keys === null ? platform.responseCache.flush() : platform.responseCache.delete(keys)),
});

/** Connects to a Redis server and pings it. Throws InvalidInput for settings without a server, and Unavailable. */
export const testCacheServer = operation({
  name: 'testCacheServer',
  access: tenantAdmin,
  run: ({ platform }: Scope<ResponseCachePlatform>, { settings }: { readonly settings: JsonObject }): Promise<void> =>
    platform.responseCache.testServer(settings),
});
