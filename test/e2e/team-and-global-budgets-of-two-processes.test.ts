import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Database } from '../../src/persistence/database/database.ts';
import { ENGINES, type ScratchDatabase } from '../ports/engines.ts';
import { type FaultServer, startFaultServer } from '../support/fault-server.ts';
import { HAS_REDIS_BINARY, type RedisServer, startRedis } from '../support/redis.ts';
import { type ServerProcess, spawnServer } from '../support/spawn-server.ts';

const engine = ENGINES.find(({ name }) => name === 'postgresql');
const isMissing = engine === undefined || engine.skipReason !== null;
const ADMIN = 'sk-the-admin-of-windows-of-two-processes';
/**
 * Calls that a budget window of the team admits. A call costs 1 USD. Windows, members and keys refuse a spend that
 * equals the budget.
 */
const TEAM_CALLS = 12;
/** Calls that the budget of the member admits. */
const MEMBER_CALLS = 3;
/** Budget of all calls. It admits one call more, because only a spend above it is refused. */
const GLOBAL_BUDGET = 60;
/** Calls that the budget of a key admits. The spend of this key is reset. */
const KEY_CALLS = 3;
/** Budget of a team whose spend is reset. It admits one call more, because only a spend above it is refused. */
const RESET_TEAM_BUDGET = 2;
const SOON = { timeout: 60_000, interval: 200 };
const ANSWER = JSON.stringify({
  id: 'a',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});

type Json = Readonly<Record<string, unknown>>;

function suite(name: string, withRedis: boolean): void {
  describe.skipIf(isMissing || (withRedis && !HAS_REDIS_BINARY))(`two processes with budgets in ${name}`, () => {
    const folder = mkdtempSync(join(tmpdir(), 'lensgate-windows-'));
    let scratch: ScratchDatabase;
    let bare: Database;
    let redis: RedisServer | null = null;
    let upstream: FaultServer;
    let servers: readonly ServerProcess[] = [];

    beforeAll(async () => {
      if (engine === undefined) throw new Error('There is no such engine.');
      if (withRedis) redis = await startRedis();
      scratch = await engine.create();
      bare = await scratch.openBare();
      upstream = await startFaultServer();
      upstream.answer((response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(ANSWER);
      });
      const model = { model: 'openai/tiny-1', api_base: `${upstream.url}/v1`, api_key: 'k' };
      const priced = (output_cost_per_token: number) => ({ ...model, input_cost_per_token: 0, output_cost_per_token });
      const file = join(folder, 'config.json');
      const config = {
        router_settings: { num_retries: 0, disable_cooldowns: true },
        litellm_settings: { max_budget: GLOBAL_BUDGET, budget_duration: '30d' },
        model_list: [
          { model_name: 'm', litellm_params: priced(1) },
          { model_name: 'free', litellm_params: priced(0) },
        ],
      };
      writeFileSync(file, JSON.stringify(config));
      const env = {
        DATABASE_URL: String(scratch.options.databaseUrl),
        LITELLM_MASTER_KEY: ADMIN,
        ...(redis === null ? {} : { REDIS_URL: redis.url }),
      };
      const start = (dataFolder: string) => spawnServer(join(folder, dataFolder), { args: ['--config', file], env });
      servers = [await start('here'), await start('there')];
    }, 240_000);
    afterAll(async () => {
      for (const server of servers) await server.end('SIGTERM');
      await upstream.stop();
      await redis?.kill();
      await scratch.remove();
      rmSync(folder, { recursive: true, force: true });
    });

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

    const chat = (nth: number, key: string, model = 'm') =>
      post(nth, '/v1/chat/completions', { model, messages: [{ role: 'user', content: 'hi' }], max_tokens: 1 }, key);

    /**
     * Calls both processes until all calls of eight consecutive rounds were refused. Returns the number of admitted
     * calls.
     */
    async function spendAll(keys: readonly string[]): Promise<number> {
      let admitted = 0;
      let refusedRounds = 0;
      for (let nth = 0; refusedRounds < 8; nth += 4) {
        const calls = [0, 1, 2, 3].map((offset) => chat(nth + offset, keys[(nth + offset) % keys.length] ?? ''));
        const statuses = (await Promise.all(calls)).map(({ status }) => status);
        expect(statuses.filter((status) => status !== 200 && status !== 422)).toEqual([]);
        const passed = statuses.filter((status) => status === 200).length;
        admitted += passed;
        refusedRounds = passed === 0 ? refusedRounds + 1 : 0;
        // A process may hold an unused part of its share for some ticks (ADR 0062). Until then the other one refuses
        // calls.
        if (passed === 0) await wait(500);
      }
      return admitted;
    }

    const refusal = (message: RegExp) => ({
      status: 422,
      body: {
        error: { message: expect.stringMatching(message) as string, type: 'budget_exceeded', param: null, code: '422' },
      },
    });

    /** Spend to which the spend of the member is reset, in USD. A call costs 1 USD. */
    const RESET_TO = 1;
    /** Admitted calls of the member, before and after the reset. */
    const allMemberCalls = MEMBER_CALLS + (MEMBER_CALLS - RESET_TO);
    /** Admitted calls of the key and the team whose spend is reset, before and after the reset. */
    const allResetCalls = 2 * (RESET_TEAM_BUDGET + 1 + KEY_CALLS);

    it('count the budget of a member from the value to which its spend is reset', async () => {
      await manage('/user/new', { user_id: 'ann', auto_create_key: false });
      await manage('/team/new', { team_id: 'small' });
      const member = { role: 'user', user_id: 'ann' };
      await manage('/team/member_add', { team_id: 'small', member, max_budget_in_team: MEMBER_CALLS });
      const key = String((await manage('/key/generate', { team_id: 'small', user_id: 'ann' }))['key']);
      expect(await spendAll([key])).toBe(MEMBER_CALLS);
      await vi.waitFor(async () => {
        const answer = await fetch(`${servers[0]?.url}/team/info?team_id=small`, {
          headers: { authorization: `Bearer ${ADMIN}` },
        });
        const { team_memberships: members } = (await answer.json()) as { readonly team_memberships: readonly Json[] };
        expect(members.find((row) => row['user_id'] === 'ann')?.['spend']).toBe(MEMBER_CALLS);
      }, SOON);
      expect(await post(0, '/team/small/member/ann/reset_spend', { reset_to: RESET_TO })).toEqual({
        status: 200,
        body: {
          team_id: 'small',
          user_id: 'ann',
          spend: RESET_TO,
          previous_spend: MEMBER_CALLS,
          max_budget: MEMBER_CALLS,
        },
      });
      expect(await spendAll([key])).toBe(MEMBER_CALLS - RESET_TO);
      const refused = refusal(/^Budget has been exceeded! TeamMember=ann:small Current cost: 3\.0, Max budget: 3\.0/);
      for (const nth of [0, 1]) expect(await chat(nth, key)).toEqual(refused);
    }, 240_000);

    it('count the budgets of a key and of a team from zero after a reset of the spend of all keys and teams', async () => {
      await manage('/team/new', { team_id: 'reset', max_budget: RESET_TEAM_BUDGET });
      const teamKey = String((await manage('/key/generate', { team_id: 'reset' }))['key']);
      const loneKey = String((await manage('/key/generate', { max_budget: KEY_CALLS }))['key']);
      const spend = async () => [await spendAll([teamKey]), await spendAll([loneKey])];
      expect(await spend()).toEqual([RESET_TEAM_BUDGET + 1, KEY_CALLS]);
      await vi.waitFor(async () => {
        const { body } = await post(0, '/graphql', { query: '{ teams(first: 9) { nodes { teamId spendUsd } } }' });
        expect(JSON.stringify(body)).toContain(`{"teamId":"reset","spendUsd":"${RESET_TEAM_BUDGET + 1}"}`);
        const keys = await fetch(`${servers[0]?.url}/key/info`, { headers: { authorization: `Bearer ${loneKey}` } });
        expect(await keys.json()).toMatchObject({ info: { spend: KEY_CALLS } });
      }, SOON);
      // The other process answers the reset.
      const done = { message: 'Spend for all API Keys and Teams reset successfully', status: 'success' };
      expect(await post(1, '/global/spend/reset', {})).toEqual({ status: 200, body: done });
      expect(await spend()).toEqual([RESET_TEAM_BUDGET + 1, KEY_CALLS]);
    }, 240_000);

    it("admit a team's calls up to its budget in each window, and one call more than the global budget", async () => {
      const budget_limits = [
        { budget_duration: '1mo', max_budget: TEAM_CALLS },
        { budget_duration: '30d', max_budget: 1_000 },
      ];
      await manage('/team/new', { team_id: 'team', budget_limits });
      const newKey = async (draft: object) => String((await manage('/key/generate', draft))['key']);
      const keys = [await newKey({ team_id: 'team' }), await newKey({ team_id: 'team' })];
      expect(await spendAll(keys)).toBe(TEAM_CALLS);
      const teamRefusal = refusal(
        new RegExp(
          String.raw`^ExceededBudget: Team=team over 1mo budget\. Spend=\$12\.0000, Limit=\$12\.00\. Budget window: 1mo\.`,
        ),
      );
      for (const nth of [0, 1]) expect(await chat(nth, keys[nth] ?? '')).toEqual(teamRefusal);

      // The stored window of `1mo` ends now, so the next one begins now. The other window is removed.
      const stored = { budgetDuration: '1mo', maxBudget: String(TEAM_CALLS) };
      const ended = JSON.stringify([
        { ...stored, resetAt: new Date().toISOString(), countsFrom: '2020-01-01T00:00:00.000Z' },
      ]);
      await sql`update team set budget_limits = ${ended}::json where id = 'team'`.execute(
        bare.orm.em.fork().getKysely(),
      );
      for (const nth of [0, 1])
        await vi.waitFor(async () => expect((await chat(nth, keys[nth] ?? '')).status).toBe(200), SOON);
      // The two calls above are of the new window.
      expect((await spendAll(keys)) + 2).toBe(TEAM_CALLS);

      // The global budget counts the calls of all tests above: no reset lowers it. The rest is for a key without a team
      // and for the admin key.
      const others = [await newKey({}), ADMIN];
      expect((await spendAll(others)) + 2 * TEAM_CALLS + allMemberCalls + allResetCalls).toBe(GLOBAL_BUDGET + 1);
      const globalRefusal = refusal(
        new RegExp(
          String.raw`^Budget has been exceeded! Current cost: ${GLOBAL_BUDGET + 1}\.0, Max budget: ${GLOBAL_BUDGET}\.0\. Budget window: 30d\.`,
        ),
      );
      for (const nth of [0, 1]) expect(await chat(nth, others[nth] ?? '')).toEqual(globalRefusal);
      for (const nth of [0, 1]) expect((await chat(nth, others[0] ?? '', 'free')).status).toBe(200);
      await vi.waitFor(async () => {
        const answer = await fetch(`${servers[1]?.url}/global/spend`, {
          headers: { authorization: `Bearer ${ADMIN}` },
        });
        expect([answer.status, await answer.json()]).toEqual([
          200,
          { spend: GLOBAL_BUDGET + 1, max_budget: GLOBAL_BUDGET },
        ]);
      }, SOON);
    }, 240_000);
  });
}

suite('PostgreSQL', false);
suite('Redis', true);
