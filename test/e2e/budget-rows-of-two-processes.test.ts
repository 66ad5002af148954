import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Database } from '../../src/persistence/database/database.ts';
import { ENGINES, type ScratchDatabase } from '../ports/engines.ts';
import { type FaultServer, startFaultServer } from '../support/fault-server.ts';
import { type ServerProcess, spawnServer } from '../support/spawn-server.ts';

const engine = ENGINES.find(({ name }) => name === 'postgresql');
const ADMIN = 'sk-the-admin-of-budget-rows-of-two-processes';
/** Calls that the budget of a window admits. A call costs 1 USD. */
const BUDGET = 20;
const SOON = { timeout: 60_000, interval: 100 };
const ANSWER = JSON.stringify({
  id: 'a',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});

type Json = Readonly<Record<string, unknown>>;

describe.skipIf(engine === undefined || engine.skipReason !== null)('a budget row of two processes', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lensgate-rows-'));
  let scratch: ScratchDatabase;
  let database: Database;
  let upstream: FaultServer;
  let servers: readonly ServerProcess[];
  beforeAll(async () => {
    if (engine === undefined) throw new Error('There is no such engine.');
    scratch = await engine.create();
    database = await scratch.openBare();
    upstream = await startFaultServer();
    upstream.answer((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(ANSWER);
    });
    const file = join(folder, 'config.json');
    const model = { model: 'openai/tiny-1', api_base: `${upstream.url}/v1`, api_key: 'k' };
    const prices = { input_cost_per_token: 0, output_cost_per_token: 1 };
    const model_list = [{ model_name: 'm', litellm_params: { ...model, ...prices } }];
    const router_settings = { num_retries: 0, disable_cooldowns: true };
    writeFileSync(file, JSON.stringify({ router_settings, model_list }));
    const env = { DATABASE_URL: String(scratch.options.databaseUrl), LITELLM_MASTER_KEY: ADMIN };
    const start = (name: string) => spawnServer(join(folder, name), { args: ['--config', file], env });
    servers = [await start('here'), await start('there')];
  });
  afterAll(async () => {
    for (const server of servers) await server.end('SIGTERM');
    await upstream.stop();
    await scratch.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Sends a request to the first process for an even `nth`, to the second one for an odd `nth`. */
  async function post(nth: number, path: string, body: object, key = ADMIN): Promise<{ status: number; body: Json }> {
    const answer = await fetch(`${servers[nth % 2]?.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: answer.status, body: (await answer.json()) as Json };
  }

  async function manage(path: string, body: object): Promise<Json> {
    const answer = await post(0, path, body);
    expect(answer).toMatchObject({ status: 200 });
    return answer.body;
  }

  const chat = (nth: number, key: string) =>
    post(nth, '/v1/chat/completions', { model: 'm', messages: [{ role: 'user', content: 'hi' }], max_tokens: 1 }, key);

  /**
   * Calls both processes until `wanted` calls were admitted and all calls of eight consecutive rounds were refused.
   * Waits for `wanted` at most a minute. A round has four calls. Returns the number of admitted calls.
   */
  async function spendAll(keys: readonly string[], wanted: number): Promise<number> {
    let admitted = 0;
    let refusedRounds = 0;
    const untilMs = Date.now() + SOON.timeout;
    for (let nth = 0; refusedRounds < 8 || (admitted < wanted && Date.now() < untilMs); nth += 4) {
      const answers = await Promise.all(
        [0, 1, 2, 3].map((offset) => chat(nth + offset, keys[(nth + offset) % 4] ?? '')),
      );
      const statuses = answers.map(({ status }) => status);
      expect(statuses.filter((status) => status !== 200 && status !== 422)).toEqual([]);
      const passed = statuses.filter((status) => status === 200).length;
      admitted += passed;
      refusedRounds = passed === 0 ? refusedRounds + 1 : 0;
      // While one process holds an unused share of the budget, the other one refuses calls.
      if (passed === 0) await wait(500);
    }
    return admitted;
  }

  const limits = { max_budget: BUDGET, budget_duration: '30d' };
  /** Each function creates an owner with the budget row `id`, and returns four keys of the owner. They may be equal. */
  const OWNERS: Readonly<Record<string, (id: string) => Promise<readonly string[]>>> = {
    async organization(id) {
      await manage('/organization/new', { organization_id: id, organization_alias: id, budget_id: id });
      return keysOf({ organization_id: id });
    },
    async project(id) {
      await manage('/team/new', { team_id: id });
      await manage('/project/new', { project_id: id, team_id: id, budget_id: id });
      return keysOf({ project_id: id });
    },
    async member(id) {
      await manage('/user/new', { user_id: id, auto_create_key: false });
      await manage('/team/new', { team_id: id });
      const member = { role: 'user', user_id: id };
      await manage('/team/member_add', { team_id: id, member, max_budget_in_team: 1 });
      await sql`update team_member set budget_id = ${id} where team_id = ${id} and user_id = ${id}`.execute(
        database.orm.em.fork().getKysely(),
      );
      return keysOf({ team_id: id, user_id: id });
    },
    async key(id) {
      const [key = ''] = await keysOf({ budget_id: id }, 1);
      return [key, key, key, key];
    },
  };

  const keysOf = (draft: object, count = 4): Promise<readonly string[]> =>
    Promise.all(Array.from({ length: count }, async () => String((await manage('/key/generate', draft))['key'])));

  // Each case waits until unused shares are released and its row is read again, so the cases run concurrently.
  it.concurrent.each(Object.entries(OWNERS))(
    'admits exactly the calls of its budget in each of two windows, with the owner: %s',
    async (name, createOwner) => {
      const id = `row-${name}`;
      await manage('/budget/new', { budget_id: id, ...limits });
      const keys = await createOwner(id);
      for (let window = 1; window <= 2; window += 1) {
        // Two calls of the second window were admitted while its start was awaited.
        const admittedBefore = window === 1 ? 0 : 2;
        const admitted = await spendAll(keys, BUDGET - admittedBefore);
        expect([window, admitted + admittedBefore]).toEqual([window, BUDGET]);
        const refused = await chat(window, keys[0] ?? '');
        expect(refused).toMatchObject({ status: 422, body: { error: { type: 'budget_exceeded' } } });
        if (window === 2) break;
        await sql`update budget set budget_reset_at = now() where id = ${id}`.execute(
          database.orm.em.fork().getKysely(),
        );
        for (const nth of [0, 1])
          await vi.waitFor(async () => expect((await chat(nth, keys[0] ?? '')).status).toBe(200), SOON);
      }
    },
  );
});
