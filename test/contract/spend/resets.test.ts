import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { POLLING } from '../../support/polling.ts';
import { envelope, type Json } from '../../support/tenancy-client.ts';
import { type OwnerCalls, startOwnerCalls } from '../owners/owner-calls.ts';

let calls: OwnerCalls;
beforeAll(async () => {
  calls = await startOwnerCalls();
});
afterAll(() => calls.stop());

async function send(method: string, path: string, body?: unknown, key = calls.app.adminKey) {
  const answer = await calls.app.call(method, path, body, { authorization: `Bearer ${key}` });
  return { status: answer.status, body: (await answer.json()) as Json };
}
const resetOverHttp = () => send('POST', '/global/spend/reset');
const DONE = {
  status: 200,
  body: { message: 'Spend for all API Keys and Teams reset successfully', status: 'success' },
};
const resetInGraph = async (key?: string) =>
  (await send('POST', '/graphql', { query: 'mutation { resetAllSpend { keys teams } }' }, key)).body;

// Each call costs 1 USD.

/** Creates a team and a key of it. Returns the key. */
async function createTeam(id: string, draft: object, keyDraft: object = {}): Promise<string> {
  await calls.manage('/team/new', { team_id: id, ...draft });
  return calls.newKey({ team_id: id, key_alias: id, ...keyDraft });
}

/** Spend and total spend of a key, and of its team over HTTP and in the graph. */
async function readSpend(id: string, key: string): Promise<Json> {
  const { info } = (await send('GET', `/key/info?key=${key}`)).body as { readonly info: Json };
  const { team_info: teamInfo } = (await send('GET', `/team/info?team_id=${id}`)).body as { readonly team_info: Json };
  const query = '{ teams(first: 100) { nodes { teamId spendUsd totalSpendUsd } } }';
  const { teams } = (await send('POST', '/graphql', { query })).body['data'] as { readonly teams: { nodes: Json[] } };
  const inGraph = teams.nodes.find((team) => team['teamId'] === id);
  return {
    key: info['spend'],
    keyTotal: info['total_spend'],
    team: teamInfo['spend'],
    teamInGraph: inGraph?.['spendUsd'],
    teamTotalInGraph: inGraph?.['totalSpendUsd'],
  };
}
const expectSpend = (
  id: string,
  key: string,
  { spend, total }: { readonly spend: number; readonly total: number },
): Promise<void> =>
  vi.waitFor(async () => {
    const inGraph = { teamInGraph: String(spend), teamTotalInGraph: String(total) };
    expect(await readSpend(id, key)).toEqual({ key: spend, keyTotal: total, team: spend, ...inGraph });
  }, POLLING);

const chat = async (key: string) => {
  const { status, body } = await calls.chat(key);
  return { status, body };
};
const refusedBy = (subject: string, spent: string, budget: string) =>
  envelope(
    422,
    `Budget has been exceeded! ${subject} Current cost: ${spent}, Max budget: ${budget}`,
    'budget_exceeded',
  );

describe('spend.reset 200', () => {
  it.each([
    ['over HTTP', async () => expect(await resetOverHttp()).toEqual(DONE)],
    [
      'in the graph',
      async () => expect(await resetInGraph()).toEqual({ data: { resetAllSpend: { keys: 1, teams: 1 } } }),
    ],
  ])('a reset %s admits a team over its budget again; total spend is kept', async (how, reset) => {
    const id = how.replaceAll(' ', '-');
    const key = await createTeam(id, { max_budget: 1.5 });
    for (const _ of [1, 2]) expect((await calls.chat(key)).status).toBe(200);
    expect(await chat(key)).toEqual(refusedBy(`Team=${id}`, '2.0', '1.5'));
    await expectSpend(id, key, { spend: 2, total: 2 });
    await reset();
    await expectSpend(id, key, { spend: 0, total: 2 });
    for (const _ of [1, 2]) expect((await calls.chat(key)).status).toBe(200);
    expect(await chat(key)).toEqual(refusedBy(`Team=${id}`, '2.0', '1.5'));
    await expectSpend(id, key, { spend: 2, total: 4 });
    await calls.restart();
    expect(await chat(key)).toEqual(refusedBy(`Team=${id}`, '2.0', '1.5'));
    expect(await resetOverHttp()).toEqual(DONE);
    await calls.restart();
    expect((await calls.chat(key)).status).toBe(200);
    await expectSpend(id, key, { spend: 1, total: 5 });
    // The next case counts the rows that its own reset changes.
    expect(await resetOverHttp()).toEqual(DONE);
  });

  it('counts an active call in the new spend', async () => {
    const key = await createTeam('flying', { max_budget: 10 }, { max_budget: 2 });
    expect((await calls.chat(key)).status).toBe(200);
    await expectSpend('flying', key, { spend: 1, total: 1 });
    const arrived = Promise.withResolvers<ServerResponse>();
    calls.upstream.answer((response) => arrived.resolve(response));
    const pendingCall = chat(key);
    const response = await arrived.promise;
    expect(await resetOverHttp()).toEqual(DONE);
    await expectSpend('flying', key, { spend: 0, total: 1 });
    calls.upstreamUses(2);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(calls.answerOf(2));
    expect((await pendingCall).status).toBe(200);
    await expectSpend('flying', key, { spend: 1, total: 2 });
    expect((await calls.chat(key)).status).toBe(200);
    expect(await chat(key)).toEqual(refusedBy(`Key=flying (sk-...${key.slice(-4)})`, '2.0', '2.0'));
    await expectSpend('flying', key, { spend: 2, total: 3 });
  });

  it('resets more keys than one page, and changes no row without spend', async () => {
    // A page has 500 keys.
    const keyCount = 502;
    expect(await resetOverHttp()).toEqual(DONE);
    await Promise.all(Array.from({ length: keyCount }, () => calls.newKey({ spend: 0.5 })));
    await createTeam('idle', { max_budget: 1 });
    const before = await send('GET', '/team/info?team_id=idle');
    expect(await resetInGraph()).toEqual({ data: { resetAllSpend: { keys: keyCount, teams: 0 } } });
    expect(await resetInGraph()).toEqual({ data: { resetAllSpend: { keys: 0, teams: 0 } } });
    expect(await send('GET', '/team/info?team_id=idle')).toEqual(before);
  });

  it('keeps the spend of budget windows', async () => {
    const windows = { budget_limits: [{ budget_duration: '30d', max_budget: 1 }] };
    const key = await createTeam('windowed', windows);
    expect((await calls.chat(key)).status).toBe(200);
    await expectSpend('windowed', key, { spend: 1, total: 1 });
    expect(await resetOverHttp()).toEqual(DONE);
    await expectSpend('windowed', key, { spend: 0, total: 1 });
    expect(await chat(key)).toMatchObject({
      status: 422,
      body: { error: { message: expect.stringContaining('Team=windowed over 30d budget.') as string } },
    });
  });

  it('adds an entry with its author to the audit log', async () => {
    const key = await createTeam('logged', {});
    await calls.chat(key);
    await expectSpend('logged', key, { spend: 1, total: 1 });
    expect(await resetOverHttp()).toEqual(DONE);
    const { body } = await send('GET', '/audit?table_name=LiteLLM_TeamTable&action=updated&object_id=logged');
    expect(body['audit_logs']).toMatchObject([
      {
        actor: 'default_user_id',
        object_id: 'logged',
        before_value: { spent_before: null },
        updated_values: { spent_before: 1 },
      },
    ]);
  });
});

describe('resetAllSpend of the graph', () => {
  it('is refused for read-only administrators and for keys without a user', async () => {
    await calls.manage('/user/new', { user_id: 'viewer', user_role: 'proxy_admin_viewer', auto_create_key: false });
    for (const draft of [{ user_id: 'viewer' }, {}])
      expect(await resetInGraph(await calls.newKey(draft))).toMatchObject({
        errors: [{ extensions: { code: 'FORBIDDEN' } }],
      });
  });
});
