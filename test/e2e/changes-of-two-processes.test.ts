import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Database } from '../../src/persistence/database/database.ts';
import { ENGINES, type ScratchDatabase } from '../ports/engines.ts';
import { withinASecond } from '../support/within-a-second.ts';
import { type ServerProcess, spawnServer } from '../support/spawn-server.ts';

const engine = ENGINES.find(({ name }) => name === 'postgresql');
const ADMIN = 'sk-the-admin-of-two-processes-3';
const SOON = { timeout: 60_000, interval: 50 };

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

// Without `NOTIFY`, many changes would take longer than a second: background tasks read rows every 1.5 to 3 seconds.
// Cached budgets of customers and tags are used without a read for 5 seconds.
describe.skipIf(engine === undefined || engine.skipReason !== null)('a change in one of two processes', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lensgate-changes-'));
  let scratch: ScratchDatabase;
  /** The same database, opened without a process. */
  let bare: Database;
  let here: ServerProcess;
  let there: ServerProcess;
  beforeAll(async () => {
    if (engine === undefined) throw new Error('There is no such engine.');
    scratch = await engine.create();
    const env = {
      DATABASE_URL: String(scratch.options.databaseUrl),
      LITELLM_MASTER_KEY: ADMIN,
      STORE_MODEL_IN_DB: 'True',
      LENSGATE_TRUSTED_PROXIES: '127.0.0.1',
    };
    const file = join(folder, 'config.json');
    writeFileSync(file, JSON.stringify({ router_settings: { num_retries: 0, disable_cooldowns: true } }));
    const args = ['--config', file];
    here = await spawnServer(join(folder, 'here'), { args, env });
    there = await spawnServer(join(folder, 'there'), { args, env });
    bare = await scratch.openBare();
    await vi.waitFor(async () => {
      if ((await listeners()).length < 2) throw new Error('A process does not listen yet.');
    }, SOON);
    const away = { model: 'openai/gpt-4o', api_base: 'http://127.0.0.1:1/v1', api_key: 'k' };
    await call(here, 'POST', '/model/new', { model_name: 'away', litellm_params: away, model_info: { id: 'away' } });
  });
  afterAll(async () => {
    await here.end('SIGTERM');
    await there.end('SIGTERM');
    await scratch.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Process ids, in PostgreSQL, of the connections that listen. */
  async function listeners(): Promise<readonly number[]> {
    const { rows } = await sql<{ pid: number }>`
      select pid from pg_stat_activity where datname = current_database() and query = 'listen lensgate' order by pid
    `.execute(bare.orm.em.fork().getKysely());
    return rows.map(({ pid }) => pid);
  }

  async function call(at: ServerProcess, method: string, path: string, body?: object, key = ADMIN): Promise<Answer> {
    const answer = await fetch(`${at.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  }

  async function changeHere(path: string, body: object, method = 'POST'): Promise<Answer['body']> {
    const answer = await call(here, method, path, body);
    expect(answer).toMatchObject({ status: 200 });
    return answer.body;
  }

  const newKey = async (settings: object = {}): Promise<string> =>
    String((await changeHere('/key/generate', settings))['key']);
  const statusThere = async (key: string): Promise<number> =>
    (await call(there, 'GET', '/v1/models', undefined, key)).status;
  /** Status of a call to `away` in the other process. An admitted call gets 500: no server listens at its address. */
  const callThere = async (key: string, more: object = {}): Promise<number> => {
    const messages = [{ role: 'user', content: 'hi' }];
    return (await call(there, 'POST', '/v1/chat/completions', { model: 'away', messages, ...more }, key)).status;
  };

  it.each([1, 2, 3, 4])('blocks and unblocks a key in the other process within a second (%i)', async () => {
    const key = await newKey();
    expect(await statusThere(key)).toBe(200);
    await changeHere('/key/block', { key });
    await withinASecond(async () => expect(await statusThere(key)).toBe(401));
    await changeHere('/key/unblock', { key });
    await withinASecond(async () => expect(await statusThere(key)).toBe(200));
  });

  it('applies in the other process within a second: the budget of a team', async () => {
    await changeHere('/team/new', { team_id: 'spenders' });
    const key = await newKey({ team_id: 'spenders' });
    expect(await callThere(key)).toBe(500);
    await changeHere('/team/update', { team_id: 'spenders', max_budget: 0 });
    await withinASecond(async () => expect(await callThere(key)).toBe(422));
    await changeHere('/team/update', { team_id: 'spenders', max_budget: 100 });
    await withinASecond(async () => expect(await callThere(key)).toBe(500));
  });

  it('applies in the other process within a second: a budget that a key refers to', async () => {
    await changeHere('/budget/new', { budget_id: 'shared', max_budget: 100 });
    const key = await newKey({ budget_id: 'shared' });
    expect(await callThere(key)).toBe(500);
    await changeHere('/budget/update', { budget_id: 'shared', max_budget: 0 });
    await withinASecond(async () => expect(await callThere(key)).toBe(422));
  });

  it('applies in the other process within a second: the budgets of a customer and a tag', async () => {
    const key = await newKey();
    const asCustomer = () => callThere(key, { user: 'customer-1' });
    const tagged = () => callThere(key, { metadata: { tags: ['dear'] } });
    expect([await asCustomer(), await tagged()]).toEqual([500, 500]);
    await changeHere('/customer/new', { user_id: 'customer-1', max_budget: 0 });
    await withinASecond(async () => expect(await asCustomer()).toBe(422));
    await changeHere('/tag/new', { name: 'dear', max_budget: 0 });
    await withinASecond(async () => expect(await tagged()).toBe(422));
  });

  it('applies in the other process within a second: a model and a fallback', async () => {
    const key = await newKey();
    const callLate = () => callThere(key, { model: 'late' });
    await changeHere('/model/new', {
      model_name: 'late',
      litellm_params: { model: 'demo' },
      model_info: { id: 'late' },
    });
    await withinASecond(async () => expect(await callLate()).toBe(200));
    await changeHere('/fallback', { model: 'away', fallback_models: ['late'] });
    await withinASecond(async () => expect(await callThere(key)).toBe(200));
    expect((await call(here, 'DELETE', '/fallback/away')).status).toBe(200);
    await withinASecond(async () => expect(await callThere(key)).toBe(500));
    await changeHere('/model/block', { model_id: 'late' });
    await withinASecond(async () => expect(await callLate()).toBe(403));
  });

  it('applies in the other process within a second: a stored setting of the router, and its removal', async () => {
    const key = await newKey();
    const standIn = { model_name: 'stand-in', litellm_params: { model: 'demo' }, model_info: { id: 'stand-in' } };
    await changeHere('/model/new', standIn);
    expect(await callThere(key)).toBe(500);
    await changeHere('/config/update', { router_settings: { fallbacks: [{ away: ['stand-in'] }] } });
    await withinASecond(async () => expect(await callThere(key)).toBe(200));
    const query =
      'mutation { updateSetting(input: { section: ROUTER, name: "fallbacks", value: null }) { __typename } }';
    expect(await changeHere('/graphql', { query })).toEqual({ data: { updateSetting: { __typename: 'Setting' } } });
    await withinASecond(async () => expect(await callThere(key)).toBe(500));
  });

  it('applies after the listening connections are terminated, even if it is made before they are open again', async () => {
    const [meanwhile, later] = [await newKey(), await newKey()];
    expect([await statusThere(meanwhile), await statusThere(later)]).toEqual([200, 200]);
    const before = await listeners();
    expect(before).toHaveLength(2);
    await sql`select pg_terminate_backend(pid) from unnest(array[${sql.join(before)}]::int[]) as pid`.execute(
      bare.orm.em.fork().getKysely(),
    );
    await changeHere('/key/block', { key: meanwhile });
    await vi.waitFor(async () => {
      const now = await listeners();
      expect(now.filter((pid) => !before.includes(pid))).toHaveLength(2);
    }, SOON);
    await withinASecond(async () => expect(await statusThere(meanwhile)).toBe(401));
    await changeHere('/key/block', { key: later });
    await withinASecond(async () => expect(await statusThere(later)).toBe(401));
  });

  it('applies in the other process within a second: a search tool', async () => {
    const namesThere = async (): Promise<readonly string[]> => {
      const { data } = (await call(there, 'GET', '/v1/search/tools')).body;
      return (data as readonly { readonly search_tool_name: string }[]).map(({ search_tool_name: name }) => name);
    };
    const named = (name: string) => ({
      search_tool: { search_tool_name: name, litellm_params: { search_provider: 'tavily' } },
    });
    const { search_tool_id: id } = await changeHere('/search_tools', named('web'));
    await withinASecond(async () => expect(await namesThere()).toEqual(['web']));
    await changeHere(`/search_tools/${String(id)}`, named('net'), 'PUT');
    await withinASecond(async () => expect(await namesThere()).toEqual(['net']));
    expect((await call(here, 'DELETE', `/search_tools/${String(id)}`)).status).toBe(200);
    await withinASecond(async () => expect(await namesThere()).toEqual([]));
  });

  it('applies in the other process within a second: a guardrail', async () => {
    const namesThere = async (): Promise<unknown> => {
      const { guardrails } = (await call(there, 'GET', '/v2/guardrails/list')).body;
      return (guardrails as readonly { readonly guardrail_name: string }[]).map(({ guardrail_name: name }) => name);
    };
    const params = { guardrail: 'litellm_content_filter', mode: 'pre_call' };
    const guardrail = { guardrail_id: 'g', guardrail_name: 'words', litellm_params: params };
    await changeHere('/guardrails', { guardrail });
    await withinASecond(async () => expect(await namesThere()).toEqual(['words']));
    await changeHere('/guardrails/g', { guardrail_name: 'tone' }, 'PATCH');
    await withinASecond(async () => expect(await namesThere()).toEqual(['tone']));
    expect((await call(here, 'DELETE', '/guardrails/g')).status).toBe(200);
    await withinASecond(async () => expect(await namesThere()).toEqual([]));
  });

  it('applies in the other process within a second: an MCP server', async () => {
    const urlThere = async (): Promise<unknown> => (await call(there, 'GET', '/v1/mcp/server/s')).body['url'];
    const server = { server_id: 's', url: 'http://127.0.0.1:9/one', transport: 'http' };
    expect((await call(here, 'POST', '/v1/mcp/server', server)).status).toBe(201);
    await withinASecond(async () => expect(await urlThere()).toBe('http://127.0.0.1:9/one'));
    await call(here, 'PUT', '/v1/mcp/server', { ...server, url: 'http://127.0.0.1:9/two' });
    await withinASecond(async () => expect(await urlThere()).toBe('http://127.0.0.1:9/two'));
    const headers = { authorization: `Bearer ${ADMIN}` };
    expect((await fetch(`${here.url}/v1/mcp/server/s`, { method: 'DELETE', headers })).status).toBe(202);
    await withinASecond(async () => expect((await call(there, 'GET', '/v1/mcp/server/s')).status).toBe(404));
  });

  it('applies in the other process within a second: the allowed addresses', async () => {
    const key = await newKey();
    const fromElsewhere = async (): Promise<number> => {
      const headers = { authorization: `Bearer ${key}`, 'x-forwarded-for': '203.0.113.9' };
      return (await fetch(`${there.url}/v1/models`, { headers })).status;
    };
    expect(await fromElsewhere()).toBe(200);
    await changeHere('/add/allowed_ip', { ip: '127.0.0.1' });
    await withinASecond(async () => expect(await fromElsewhere()).toBe(403));
  });
});
