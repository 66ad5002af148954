import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { ENGINES, type ScratchDatabase } from '../ports/engines.ts';
import { POLLING } from '../support/polling.ts';
import { HAS_REDIS_BINARY, NO_REDIS, type RedisServer, startRedis } from '../support/redis.ts';
import { type ServerProcess, spawnServer } from '../support/spawn-server.ts';

const engine = ENGINES.find(({ name }) => name === 'postgresql');
const isMissing = engine === undefined || engine.skipReason !== null;
const ADMIN = 'sk-the-admin-of-limits-of-two-processes';

/** Cost of each answer in USD: 10 input and 10 output tokens at 0.001. */
const COST = 0.02;
const BUDGET = 50 * COST;
const ANSWER = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 0,
  model: 'up',
  choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hello' } }],
  usage: { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 },
});

/** An upstream that delays its answers between `hold` and `release`, and counts its open calls. */
class Upstream {
  open = 0;
  maxOpen = 0;
  answered = 0;
  #held: (() => void)[] = [];
  #isHolding = false;
  readonly #server: Server;

  constructor() {
    this.#server = createServer((request, response) => {
      request.resume();
      this.open += 1;
      this.maxOpen = Math.max(this.maxOpen, this.open);
      const answer = (): void => {
        this.open -= 1;
        this.answered += 1;
        response.setHeader('content-type', 'application/json').end(ANSWER);
      };
      if (this.#isHolding) this.#held.push(answer);
      else answer();
    });
  }

  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('No address.');
    return `http://127.0.0.1:${address.port}`;
  }

  hold(): void {
    this.#isHolding = true;
    this.maxOpen = this.open;
  }

  release(): void {
    this.#isHolding = false;
    for (const answer of this.#held.splice(0)) answer();
  }

  async close(): Promise<void> {
    this.release();
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

function suite(name: string, withRedis: boolean): void {
  describe.skipIf(isMissing || (withRedis && !HAS_REDIS_BINARY))(`limits of two processes, ${name}`, () => {
    let scratch: ScratchDatabase;
    let redis: RedisServer | null = null;
    let upstream: Upstream;
    const folders: string[] = [];
    let env: Record<string, string>;
    let servers: ServerProcess[] = [];
    /** Bodies of answers with a status of 500 or more. */
    const serverErrors: string[] = [];

    beforeAll(async () => {
      if (engine === undefined) throw new Error('There is no such engine.');
      if (withRedis) redis = await startRedis();
      scratch = await engine.create();
      upstream = new Upstream();
      const folder = mkdtempSync(join(tmpdir(), 'lensgate-limits-'));
      folders.push(folder);
      const config = join(folder, 'config.yaml');
      const base = await upstream.listen();
      const model = (modelName: string, provider: string) => `
  - model_name: ${modelName}
    litellm_params:
      model: ${provider}/up
      api_base: ${base}/v1
      api_key: sk-up
      input_cost_per_token: 0.001
      output_cost_per_token: 0.001
`;
      writeFileSync(
        config,
        `router_settings:
  provider_budget_config:
    groq: {budget_limit: ${BUDGET}, time_period: 30d}
model_list:${model('m', 'openai')}${model('of-groq', 'groq')}`,
      );
      env = {
        DATABASE_URL: String(scratch.options.databaseUrl),
        LITELLM_MASTER_KEY: ADMIN,
        CONFIG_FILE_PATH: config,
        LITELLM_SALT_KEY: 'sk-salt',
        ...(redis === null ? {} : { REDIS_URL: redis.url }),
      };
      servers = [await start(), await start()];
    });
    afterEach(() => upstream.release());
    afterAll(async () => {
      await Promise.all(servers.map((server) => server.end('SIGKILL')));
      await upstream.close();
      await redis?.kill();
      for (const folder of folders) rmSync(folder, { recursive: true, force: true });
      await scratch.remove();
    });

    function start(): Promise<ServerProcess> {
      const folder = mkdtempSync(join(tmpdir(), 'lensgate-limits-'));
      folders.push(folder);
      return spawnServer(folder, { env });
    }

    const serverAt = (position: number): ServerProcess => {
      const server = servers[position % servers.length];
      if (server === undefined) throw new Error('No server.');
      return server;
    };

    const post = (server: ServerProcess, path: string, body: unknown, key = ADMIN): Promise<Response> =>
      fetch(`${server.url}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });

    async function newKey(limits: object): Promise<string> {
      const made = await post(serverAt(0), '/key/generate', { models: ['m'], ...limits });
      expect(made.status).toBe(200);
      return ((await made.json()) as { key: string }).key;
    }

    async function call(position: number, key: string, model = 'm'): Promise<number> {
      const chat = { model, max_tokens: 10, messages: [{ role: 'user', content: 'Hello' }] };
      const answer = await post(serverAt(position), '/v1/chat/completions', chat, key);
      const text = await answer.text();
      if (answer.status >= 500) serverErrors.push(text);
      return answer.status;
    }

    /** Numbers of calls by status. `parallel` calls run at a time, alternately at both processes. */
    async function calls(count: number, parallel: number, key: string, model = 'm'): Promise<Map<number, number>> {
      const byStatus = new Map<number, number>();
      let next = 0;
      const worker = async (): Promise<void> => {
        while (next < count) {
          const position = next;
          next += 1;
          const status = await call(position, key, model);
          byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
        }
      };
      await Promise.all(Array.from({ length: parallel }, worker));
      return byStatus;
    }

    /** Key whose slots a killed process holds. The tests between its two uses give the lease time to end. */
    let keyOfKilled = '';

    it('keep the slots of a killed process during its lease', async () => {
      keyOfKilled = await newKey({ max_parallel_requests: 4 });
      const killedServer = await start();
      servers.push(killedServer);
      upstream.hold();
      const killedPosition = servers.length - 1;
      const lost = Array.from({ length: 4 }, () => call(killedPosition, keyOfKilled).catch(() => 0));
      await vi.waitFor(() => expect(upstream.open).toBeGreaterThanOrEqual(4), POLLING);
      expect(await call(0, keyOfKilled)).toBe(429);
      servers.pop();
      await killedServer.end('SIGKILL');
      await Promise.all(lost);
      upstream.release();
      expect(await call(0, keyOfKilled)).toBe(429);
    });

    it('admit exactly as many requests in a minute as allowed', async () => {
      const byStatus = await calls(300, 30, await newKey({ rpm_limit: 57 }));
      expect(byStatus).toEqual(
        new Map([
          [200, 57],
          [429, 243],
        ]),
      );
    });

    it('admit exactly as many parallel calls as allowed, and others after these', async () => {
      const key = await newKey({ max_parallel_requests: 7 });
      upstream.hold();
      const statuses: number[] = [];
      const calling = Array.from({ length: 40 }, async (_, position) => statuses.push(await call(position, key)));
      // The slots stay taken until all calls are decided. A call that is decided later would get a freed slot.
      await vi.waitFor(
        () =>
          expect({ open: upstream.open, statuses }).toEqual({
            open: 7,
            statuses: Array.from({ length: 33 }, () => 429),
          }),
        POLLING,
      );
      upstream.release();
      await Promise.all(calling);
      expect(statuses.slice(33)).toEqual(Array.from({ length: 7 }, () => 200));
      expect(upstream.maxOpen).toBe(7);
      for (const position of [0, 1]) await vi.waitFor(async () => expect(await call(position, key)).toBe(200), POLLING);
    });

    it.each([
      ['of a key', { max_budget: BUDGET }, 'm', 422],
      ['of a model of a key', { model_max_budget: { m: { budget_limit: BUDGET, time_period: '30d' } } }, 'm', 422],
      // The configuration file sets the budget of this provider. Without a deployment that has budget left, a call is
      // answered with 429 (RouteBudgetExceeded).
      ['of a provider', { models: ['of-groq'] }, 'of-groq', 429],
    ])('are exceeded by less than the cost of one call: a budget %s', async (_of, limits, model, refusalStatus) => {
      const before = upstream.answered;
      const admitted = (): number => upstream.answered - before;
      const key = await newKey(limits);
      const byStatus = await calls(300, 30, key, model);
      expect([...byStatus.keys()].toSorted((left, right) => left - right)).toEqual([200, refusalStatus]);
      expect(admitted()).toBe(byStatus.get(200));
      // Reservations of calls in progress and unused reserves of a process refuse calls early, until they are released.
      await vi.waitFor(
        async () => {
          await calls(2, 1, key, model);
          expect(admitted() * COST).toBeGreaterThan(BUDGET - 2 * COST);
        },
        { ...POLLING, interval: 100 },
      );
      // The rest of the budget admits at most one of these calls.
      expect((await calls(20, 4, key, model)).get(refusalStatus)).toBeGreaterThan(18);
      expect(admitted() * COST).toBeLessThan(BUDGET + COST);
    });

    it('free the slots of a killed process after its lease', async () => {
      await vi.waitFor(async () => expect(await call(0, keyOfKilled)).toBe(200), { ...POLLING, interval: 250 });
    });

    it('hold in each process while the ledger is down, and in both together afterwards', async () => {
      const limit = 60;
      const key = await newKey({ rpm_limit: limit, max_parallel_requests: 1_000, max_budget: 1_000 });
      const loadKey = await newKey({ rpm_limit: 100_000 });
      serverErrors.length = 0;
      // Both processes hold the key in memory: without the database, they refuse other keys (ADR 0056).
      for (const position of [0, 1]) expect(await call(position, loadKey)).toBe(200);
      let isOver = false;
      const load = (async () => {
        const byStatus = new Map<number, number>();
        for (let position = 0; !isOver; position += 1) {
          const status = await call(position, loadKey);
          byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
        }
        return byStatus;
      })();
      // Prevents an unhandled rejection. The promise is awaited below.
      load.catch(() => {});
      const admittedBefore = 20;
      expect(await calls(admittedBefore, 5, key)).toEqual(new Map([[200, admittedBefore]]));
      await interruptLedger();
      const during = await calls(300, 20, key);
      expect([...during.keys()].filter((status) => status !== 200 && status !== 429)).toEqual([]);
      // The documented bound: the limit in each process.
      expect(admittedBefore + (during.get(200) ?? 0)).toBeLessThanOrEqual(2 * limit);
      // With PostgreSQL alone, the processes may have connected again, and share limits already.
      const shared = await Promise.all(servers.map(isShared));
      expect(redis === null || !shared.includes(true)).toBe(true);
      await restoreLedger();
      // The counts are shared again: a new limit holds exactly.
      const newLimitedKey = await newKey({ rpm_limit: 33 });
      expect((await calls(200, 20, newLimitedKey)).get(200)).toBe(33);
      isOver = true;
      const statuses = [...(await load).keys()];
      expect({ statuses, serverErrors }).toEqual({ statuses: [200], serverErrors: [] });
    });

    const isShared = async (server: ServerProcess): Promise<boolean> => {
      const text = await (await fetch(`${server.url}/metrics`)).text();
      return /^lensgate_shared_limits 1$/m.test(text);
    };

    async function interruptLedger(): Promise<void> {
      if (redis !== null) {
        await redis.kill();
        return;
      }
      const stores = await scratch.openBare();
      // Repeated, because processes connect again immediately.
      for (let times = 0; times < 5; times += 1)
        await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`.execute(
          stores.orm.em.fork().getKysely(),
        );
    }

    async function restoreLedger(): Promise<void> {
      if (redis !== null) {
        await redis.start();
      }
      for (const server of servers) await vi.waitFor(async () => expect(await isShared(server)).toBe(true), POLLING);
    }
  });
}

if (!HAS_REDIS_BINARY) console.warn(NO_REDIS);
suite('with PostgreSQL alone', false);
suite('with Redis', true);
