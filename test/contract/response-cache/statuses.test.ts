import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HAS_REDIS, type RedisServer, startRedis } from '../../support/redis.ts';
import { envelope, NO_KEY, tenancyClient } from '../../support/tenancy-client.ts';
import { type CachedApp, startCached } from './cached-app.ts';

const MESSAGE = 'Cache not initialized. No cache of answers is configured.';
const NO_CACHE = { status: 503, body: { detail: `Service Unhealthy (503: ${MESSAGE})` } };
const NO_PING = envelope(503, MESSAGE, 'cache_ping_error', 'cache_ping');

const ROWS = [
  ['cache.ping', 'GET', '/cache/ping', undefined, NO_PING],
  ['cache.server', 'GET', '/cache/redis/info', undefined, NO_CACHE],
  ['cache.delete', 'POST', '/cache/delete', { keys: ['a'] }, NO_CACHE],
  ['cache.flush', 'POST', '/cache/flushall', {}, NO_CACHE],
] as const;

describe('without a cache', () => {
  const { send, post } = tenancyClient();

  it.each(ROWS)('%s 401: no key; 503: no configured cache', async (_row, method, path, body, answer) => {
    expect(await send(method, path, body)).toEqual(answer);
    expect(await send(method, path, body, '')).toEqual(NO_KEY);
  });

  it.each([
    ['cache.delete', '/cache/delete', { keys: ['a'] }],
    ['cache.flush', '/cache/flushall', {}],
    ['cache.test', '/cache/settings/test', { host: '127.0.0.1' }],
  ])('%s 403: a read-only administrator', async (_row, path, body) => {
    const viewer = (await post('/user/new', { user_role: 'proxy_admin_viewer' })).body['key'];
    expect((await post(path, body, String(viewer))).status).toBe(403);
  });

  it('cache.delete 422: without keys', async () => {
    expect(await post('/cache/delete', {})).toMatchObject({
      status: 422,
      body: { detail: [{ type: 'missing', loc: ['body', 'keys'] }] },
    });
  });

  it('cache.test 401: no key; 422: no server, a cluster, and a body that is no object', async () => {
    const path = '/cache/settings/test';
    const msg = 'Set `host` or `url` of one Redis server. Clusters and sentinels are not supported.';
    const refused = { status: 422, body: { detail: [{ type: 'missing', loc: ['body', 'host'], msg }] } };
    for (const body of [{}, { host: 'h', redis_type: 'cluster' }, { cache_settings: { port: '1' } }])
      expect(await post(path, body)).toEqual(refused);
    expect(await post(path, {}, '')).toEqual(NO_KEY);
    expect((await send('POST', path, [])).status).toBe(422);
  });

  it('cache.test 422: an invalid address', async () => {
    const msg = 'The host or the URL of the Redis server is not valid.';
    for (const cache_settings of [{ host: 'bad host' }, { url: 'redis://[::' }])
      expect(await post('/cache/settings/test', { cache_settings })).toEqual({
        status: 422,
        body: { detail: [{ type: 'invalid', loc: ['body', 'host'], msg }] },
      });
  });

  it('cache.test 503: a server that refuses connections', async () => {
    expect(await post('/cache/settings/test', { cache_settings: { host: '127.0.0.1', port: '1' } })).toEqual(
      envelope(503, 'The server of the cache of answers does not answer.', 'service_unavailable'),
    );
  });
});

describe('a cache in memory', () => {
  let cached: CachedApp;
  beforeAll(async () => {
    cached = await startCached({ litellm: { cache: true, cache_params: { type: 'local', ttl: 30, namespace: 'n' } } });
  });
  afterAll(() => cached.stop());
  const ask = async (text: string) => {
    const body = { model: 'chat', messages: [{ role: 'user', content: text }] };
    return cached.ask('/v1/chat/completions', body);
  };
  const json = async (method: string, path: string, body?: object) => {
    const response = await cached.app.call(method, path, body);
    return { status: response.status, body: (await response.json()) as unknown };
  };

  it('cache.ping 200: the result of a test entry, and the settings of the cache', async () => {
    const params = {
      type: 'local',
      mode: 'default_on',
      scope: 'team',
      namespace: 'n',
      ttl: 30,
      supported_call_types: ['acompletion', 'atext_completion', 'aembedding', 'aresponses', 'anthropic_messages'],
      max_messages: 4,
    };
    expect(await json('GET', '/cache/ping')).toEqual({
      status: 200,
      body: {
        status: 'healthy',
        cache_type: 'local',
        ping_response: true,
        set_cache_response: 'success',
        litellm_cache_params: JSON.stringify(params),
        health_check_cache_params: params,
      },
    });
  });

  it('cache.server 503: the cache is not in Redis', async () => {
    expect((await json('GET', '/cache/redis/info')).status).toBe(503);
  });

  it('cache.delete 200: removes the answer with the key, and keeps other answers', async () => {
    const first = await ask('delete me');
    await ask('keep me');
    const key = first.headers['x-litellm-cache-key'] ?? '';
    expect(key).toMatch(/^n:[0-9a-f]{64}$/);
    expect(await json('POST', '/cache/delete', { keys: [key, 'unknown'] })).toEqual({
      status: 200,
      body: { status: 'success' },
    });
    const before = cached.upstreamCalls();
    await ask('keep me');
    expect(cached.upstreamCalls()).toBe(before);
    await ask('delete me');
    expect(cached.upstreamCalls()).toBe(before + 1);
  });

  it('cache.flush 200: removes answers', async () => {
    await ask('flushed');
    expect(await json('POST', '/cache/flushall')).toEqual({ status: 200, body: { status: 'success' } });
    const before = cached.upstreamCalls();
    await ask('flushed');
    expect(cached.upstreamCalls()).toBe(before + 1);
  });
});

describe.skipIf(!HAS_REDIS)('a cache in Redis', () => {
  let redis: RedisServer;
  let cached: CachedApp;
  beforeAll(async () => {
    redis = await startRedis();
    const params = { type: 'redis', host: '127.0.0.1', port: redis.port, namespace: 'shop' };
    cached = await startCached({ litellm: { cache: true, cache_params: params } });
  });
  afterAll(async () => {
    await cached.stop();
    await redis.kill();
  });

  it('cache.server 200: clients and information of the Redis server', async () => {
    const response = await cached.app.call('GET', '/cache/redis/info');
    expect(response.status).toBe(200);
    const body = (await response.json()) as { num_clients: number; clients: object[]; info: Record<string, string> };
    expect(body.num_clients).toBe(body.clients.length);
    expect(body.clients).toContainEqual(expect.objectContaining({ name: 'lensgate' }));
    expect(body.info).toMatchObject({ tcp_port: String(redis.port) });
  });

  it('cache.test 200: a server that answers', async () => {
    const response = await cached.app.call('POST', '/cache/settings/test', { url: redis.url });
    expect({ status: response.status, body: await response.json() }).toEqual({
      status: 200,
      body: { status: 'success', message: 'Cache connection test successful', error: null },
    });
  });
});
