import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { stringify } from 'yaml';
import { POLLING } from '../../support/polling.ts';
import { HAS_REDIS, type RedisServer, startRedis } from '../../support/redis.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

const MODELS = [{ model_name: 'm', litellm_params: { model: 'demo' } }];
const configOf = (litellm: object): string => stringify({ litellm_settings: litellm, model_list: MODELS });

/** Sends a chat with a fixed text. Returns the cache key of the answer; null for an answer that is not cached. */
async function keyOf(app: TestApp, members: object = {}): Promise<string | null> {
  const body = { model: 'm', messages: [{ role: 'user', content: 'hello' }], ...members };
  const response = await app.call('POST', '/v1/chat/completions', body);
  expect(response.status).toBe(200);
  await response.text();
  return response.headers.get('x-litellm-cache-key');
}

/** State of the cache in the graph. */
async function cacheOf(app: TestApp): Promise<unknown> {
  const query = '{ responseCache { isOn type ttlSeconds entries } }';
  const answer = await app.call('POST', '/graphql', { query });
  return ((await answer.json()) as { data: { responseCache: unknown } }).data.responseCache;
}

describe('settings that change without a restart', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp({ config: { model_list: MODELS } });
  });
  afterAll(() => app.stop());

  it('a reload turns the cache on and off, and keeps answers when only the ttl changes', async () => {
    expect(await keyOf(app)).toBeNull();
    expect(await cacheOf(app)).toEqual({ isOn: false, type: null, ttlSeconds: null, entries: null });
    await app.reload(configOf({ cache: true, cache_params: { type: 'local' } }));
    expect(await keyOf(app)).not.toBeNull();
    expect(await cacheOf(app)).toEqual({ isOn: true, type: 'local', ttlSeconds: 600, entries: 1 });
    await app.reload(configOf({ cache: true, cache_params: { type: 'local', ttl: 5 } }));
    expect(await cacheOf(app)).toEqual({ isOn: true, type: 'local', ttlSeconds: 5, entries: 1 });
    await app.reload(configOf({ cache: false }));
    expect(await keyOf(app)).toBeNull();
  });

  it('with default_off, only requests with use-cache or caching use the cache', async () => {
    await app.reload(configOf({ cache: true, cache_params: { type: 'local', mode: 'default_off' } }));
    expect(await keyOf(app)).toBeNull();
    expect(await keyOf(app, { cache: { 'use-cache': true } })).not.toBeNull();
    expect(await keyOf(app, { caching: true })).not.toBeNull();
  });

  it('a reload with an unsupported type keeps the settings in force', async () => {
    await app.reload(configOf({ cache: true, cache_params: { type: 'local' } }));
    await app.reload(configOf({ cache: true, cache_params: { type: 's3' } }));
    expect(await cacheOf(app)).toMatchObject({ isOn: true, type: 'local' });
  });
});

describe.skipIf(!HAS_REDIS)('a stored Redis server', () => {
  let redis: RedisServer;
  let app: TestApp;
  beforeAll(async () => {
    redis = await startRedis();
    app = await startApp({ config: { general_settings: { store_model_in_db: true }, model_list: MODELS } });
  });
  afterAll(async () => {
    await app.stop();
    await redis.kill();
  });

  it('turns the cache on, sent in the format of the reference', async () => {
    const settings = { host: '127.0.0.1', port: String(redis.port), ttl: 30 };
    expect((await app.call('POST', '/cache/settings', { cache_settings: settings })).status).toBe(200);
    await vi.waitFor(async () => {
      expect(await cacheOf(app)).toEqual({ isOn: true, type: 'redis', ttlSeconds: 30, entries: null });
      expect((await app.call('GET', '/cache/ping')).status).toBe(200);
    }, POLLING);
    expect(await keyOf(app)).not.toBeNull();
  });

  it('a cluster is refused', async () => {
    const response = await app.call('POST', '/cache/settings', { redis_type: 'cluster', host: 'h' });
    expect(response.status).toBe(422);
    expect(await response.text()).toContain("the type 'cluster' is not supported: use 'node'");
  });
});
