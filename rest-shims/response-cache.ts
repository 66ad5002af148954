import { checkCache, clearCache, getCacheServer, testCacheServer } from '../resolvers/response-cache.ts';
import type { CacheSettings } from '../src/domain/response-cache/cache-settings.ts';
import { fields, requiredTexts } from './helpers/http/body-fields.ts';
import { json, route, type RouteRow } from './helpers/http/route.ts';
import { MANAGEMENT_CHANGE, MANAGEMENT_READ } from './helpers/http/row-facts.ts';
import { cacheValues, groupSchema } from './helpers/answers/setting-groups.ts';

const readKeys = fields({ keys: requiredTexts });
const SUCCESS = { status: 'success' };

/** Settings of the cache, without address and password of its server. */
const paramsOf = ({ type, mode, scope, namespace, ttlSeconds, callTypes, maxMessages }: CacheSettings) => ({
  type,
  mode,
  scope,
  namespace,
  ttl: ttlSeconds,
  supported_call_types: [...callTypes],
  max_messages: maxMessages,
});

/** State, test and clearing of the cache of answers. The routes of `/cache/settings` are in `setting-groups.ts`. */
export const responseCacheRoutes: readonly RouteRow[] = [
  route({
    ...MANAGEMENT_READ,
    name: 'cache.ping',
    paths: ['/cache/ping'],
    statuses: [200, 401, 503],
    failureForm: { body: 'model' },
    parse: () => undefined,
    run: checkCache,
    render({ type, status: { settings } }) {
      const params = settings === null ? {} : paramsOf(settings);
      return json({
        status: 'healthy',
        cache_type: type,
        ping_response: true,
        set_cache_response: 'success',
        litellm_cache_params: JSON.stringify(params),
        health_check_cache_params: params,
      });
    },
  }),
  route({
    ...MANAGEMENT_READ,
    name: 'cache.server',
    paths: ['/cache/redis/info'],
    statuses: [200, 401, 503],
    failureForm: { body: 'text' },
    parse: () => undefined,
    run: getCacheServer,
    render: ({ clientCount, clients, info }) => json({ num_clients: clientCount, clients, info }),
  }),
  route({
    ...MANAGEMENT_CHANGE,
    name: 'cache.delete',
    bodySchema: readKeys.schema,
    paths: ['/cache/delete'],
    statuses: [200, 401, 403, 422, 503],
    failureForm: { body: 'text' },
    parse: ({ body }) => readKeys(body),
    run: clearCache,
    render: () => json(SUCCESS),
  }),
  route({
    ...MANAGEMENT_CHANGE,
    name: 'cache.flush',
    paths: ['/cache/flushall'],
    statuses: [200, 401, 403, 503],
    failureForm: { body: 'text' },
    bodyLimit: 1024,
    parse: () => ({ keys: null }),
    run: clearCache,
    render: () => json(SUCCESS),
  }),
  route({
    ...MANAGEMENT_CHANGE,
    name: 'cache.test',
    bodySchema: groupSchema('cache'),
    paths: ['/cache/settings/test'],
    statuses: [200, 401, 403, 422, 503],
    failureForm: { body: 'detail' },
    parse: ({ body }) => ({ settings: cacheValues(body) }),
    run: testCacheServer,
    render: () => json({ ...SUCCESS, message: 'Cache connection test successful', error: null }),
  }),
];
