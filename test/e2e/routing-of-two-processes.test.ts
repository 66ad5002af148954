import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type FaultServer, startFaultServer } from '../support/fault-server.ts';
import { POLLING } from '../support/polling.ts';
import { anyRedis, HAS_REDIS, NO_REDIS } from '../support/redis.ts';
import { startApp, type TestApp } from '../support/start-app.ts';

if (!HAS_REDIS) console.warn(NO_REDIS);

/** Time between two calls of a wait for an exchange. It is shorter than the interval of the exchange. */
const SLOWLY = { ...POLLING, interval: 400 };

describe.skipIf(!HAS_REDIS)('two gateways with one Redis server', () => {
  let redis: Awaited<ReturnType<typeof anyRedis>>;
  let upstream: FaultServer;
  let apps: TestApp[] = [];
  beforeEach(async () => {
    // Use is counted by UTC minute, which must not end during a test.
    vi.useFakeTimers({ now: Date.now(), toFake: ['Date'] });
    redis = await anyRedis();
    upstream = await startFaultServer();
    upstream.answer((response, _socket, { body }) => {
      const { model, messages } = JSON.parse(body) as { model: string; messages: readonly { content: string }[] };
      // `fail:a` makes the deployment a refuse its credential.
      const fails = messages[0]?.content === `fail:${model}`;
      response.writeHead(fails ? 401 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(fails ? { error: { message: 'no' } } : answerOf(model)));
    });
  });
  afterEach(async () => {
    vi.useRealTimers();
    await Promise.all(apps.map((app) => app.stop()));
    apps = [];
    await upstream.stop();
    await redis.stop();
  });

  const answerOf = (model: string) => ({
    id: 'c',
    object: 'chat.completion',
    created: 0,
    model,
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hello' } }],
    usage: { prompt_tokens: 9, completion_tokens: 1, total_tokens: 10 },
  });

  async function startTwo(models: readonly (readonly [id: string, params: object])[], router_settings: object) {
    const env = { REDIS_URL: redis.url, REDIS_NAMESPACE: `test-${randomUUID()}` };
    const config = {
      router_settings: { num_retries: 0, ...router_settings },
      model_list: models.map(([id, params]) => ({
        model_name: 'm',
        litellm_params: {
          model: `openai/chat_completions/${id}`,
          api_base: `${upstream.url}/v1`,
          api_key: 'k',
          ...params,
        },
        model_info: { id },
      })),
    };
    const [here, there] = [await startApp({ config, env }), await startApp({ config, env })];
    apps = [here, there];
    return [here, there] as const;
  }

  async function ask(app: TestApp, content = 'x'): Promise<{ readonly status: number; readonly id: string | null }> {
    const body = { model: 'm', messages: [{ role: 'user', content }] };
    const response = await app.call('POST', '/v1/chat/completions', body);
    await response.text();
    return { status: response.status, id: response.headers.get('x-litellm-model-id') };
  }

  it('count the requests of a deployment together', async () => {
    const [here, there] = await startTwo([['a', { rpm: 40 }]], { routing_strategy: 'usage-based-routing-v2' });
    for (let call = 0; call < 35; call += 1) expect((await ask(here)).status).toBe(200);
    let served = 0;
    await vi.waitFor(async () => {
      const { status } = await ask(there);
      if (status === 200) served += 1;
      expect(status).toBe(429);
    }, SLOWLY);
    // Calls before the exchange were counted by this process alone.
    expect(served).toBeLessThan(20);
    await vi.waitFor(async () => expect((await ask(here)).status).toBe(429), SLOWLY);
  });

  it('share cooldowns', async () => {
    const [here, there] = await startTwo(
      [
        ['a', {}],
        ['b', {}],
      ],
      { cooldown_time: 600 },
    );
    await vi.waitFor(async () => expect((await ask(here, 'fail:a')).status).toBe(401), POLLING);
    await vi.waitFor(async () => {
      const ids = [await ask(there), await ask(there), await ask(there), await ask(there)].map(({ id }) => id);
      expect(ids).toEqual(['b', 'b', 'b', 'b']);
    }, SLOWLY);
  });
});
