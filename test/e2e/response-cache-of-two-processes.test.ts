import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type FaultServer, startFaultServer } from '../support/fault-server.ts';
import { POLLING } from '../support/polling.ts';
import { HAS_REDIS_BINARY, NO_REDIS, type RedisServer, startRedis } from '../support/redis.ts';
import { type ServerProcess, spawnServer } from '../support/spawn-server.ts';

const ADMIN = 'sk-the-admin-of-the-cache-of-two-processes';

if (!HAS_REDIS_BINARY) console.warn(NO_REDIS);

describe.skipIf(!HAS_REDIS_BINARY)('a cache of answers in Redis', () => {
  let redis: RedisServer;
  let upstream: FaultServer;
  const folders: string[] = [];
  let servers: readonly [ServerProcess, ServerProcess];

  beforeAll(async () => {
    redis = await startRedis();
    upstream = await startFaultServer();
    upstream.answer((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({
          id: `chatcmpl-${upstream.received.length}`,
          object: 'chat.completion',
          created: 0,
          model: 'up',
          choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hello' } }],
          usage: { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 },
        }),
      );
    });
    servers = [await start(), await start()];
  });
  afterAll(async () => {
    redis.thaw();
    await Promise.all(servers.map((server) => server.end('SIGTERM')));
    await upstream.stop();
    await redis.kill();
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });

  function start(): Promise<ServerProcess> {
    const folder = mkdtempSync(join(tmpdir(), 'lensgate-cache-'));
    folders.push(folder);
    const config = join(folder, 'config.yaml');
    writeFileSync(
      config,
      `litellm_settings:
  cache: true
  cache_params: { type: redis, host: os.environ/CACHE_HOST, port: os.environ/CACHE_PORT, ttl: 300 }
model_list:
  - model_name: m
    litellm_params: { model: openai/up, api_base: ${upstream.url}/v1, api_key: sk-up }
`,
    );
    const env = {
      LITELLM_MASTER_KEY: ADMIN,
      CONFIG_FILE_PATH: config,
      CACHE_HOST: '127.0.0.1',
      CACHE_PORT: `${redis.port}`,
    };
    return spawnServer(folder, { env });
  }

  const post = (server: ServerProcess, path: string, body: object): Promise<Response> =>
    fetch(`${server.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ADMIN}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  async function ask(server: ServerProcess, text: string): Promise<string> {
    const response = await post(server, '/v1/chat/completions', {
      model: 'm',
      messages: [{ role: 'user', content: text }],
    });
    expect(response.status).toBe(200);
    return response.text();
  }

  it('a stored answer of one process is used by the other process', async () => {
    const [one, other] = servers;
    let first = '';
    // Answers do not wait for their writes: both processes may miss, and the last write stays.
    await vi.waitFor(async () => {
      first = await ask(one, 'shared');
      expect(await ask(other, 'shared')).toBe(first);
    }, POLLING);
    const before = upstream.received.length;
    expect(await ask(other, 'shared')).toBe(first);
    expect(upstream.received.length).toBe(before);
  });

  it('a flush of one process removes the answers of both', async () => {
    const [one, other] = servers;
    await vi.waitFor(async () => expect(await ask(other, 'flush')).toBe(await ask(one, 'flush')), POLLING);
    expect((await post(other, '/cache/flushall', {})).status).toBe(200);
    const before = upstream.received.length;
    await ask(one, 'flush');
    expect(upstream.received.length).toBe(before + 1);
  });

  it('calls are answered while Redis does not answer or is down; later the cache is used again', async () => {
    const [one] = servers;
    redis.freeze();
    const before = upstream.received.length;
    await ask(one, 'frozen');
    expect(upstream.received.length).toBe(before + 1);
    redis.thaw();
    await vi.waitFor(async () => {
      const first = await ask(one, 'thawed');
      expect(await ask(one, 'thawed')).toBe(first);
    }, POLLING);
    await redis.kill();
    await ask(one, 'killed');
    expect((await post(one, '/cache/flushall', {})).status).toBe(503);
    await redis.start();
    await vi.waitFor(async () => {
      const first = await ask(one, 'restarted');
      expect(await ask(one, 'restarted')).toBe(first);
    }, POLLING);
  });
});
