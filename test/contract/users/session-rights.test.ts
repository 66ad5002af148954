import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { contentFilter } from '../guardrails/guarded-app.ts';
import { type OwnerCalls, startOwnerCalls } from '../owners/owner-calls.ts';

let calls: OwnerCalls;
let service: FaultServer;
let users = 0;

beforeAll(async () => {
  service = await startFaultServer();
  service.answer((response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end('{"action":"NONE"}');
  });
  calls = await startOwnerCalls({
    guardrails: [
      {
        guardrail_name: 'service',
        litellm_params: { guardrail: 'generic_guardrail_api', mode: 'pre_call', api_base: service.url },
      },
      contentFilter('greetings', { blocked_words: [{ keyword: 'hi', action: 'BLOCK' }] }),
      { guardrail_name: 'tools', litellm_params: { guardrail: 'tool_policy', mode: 'pre_call' } },
    ],
    policies: { polite: { guardrails: { add: ['greetings'] } } },
    policy_attachments: [{ policy: 'polite', keys: ['watched'] }],
  });
});
afterAll(async () => {
  await calls.stop();
  await service.stop();
});

/** A key of a new user. `open` signs in with it, and returns the key of the session. */
async function keyOfUser(draft: object) {
  users += 1;
  const userId = `person-${users}`;
  await calls.manage('/user/new', { user_id: userId, user_role: 'internal_user' });
  const key = await calls.newKey({ user_id: userId, ...draft });
  return {
    key,
    async open(): Promise<string> {
      const login = { username: userId, password: key };
      const answer = await calls.app.call('POST', '/v2/login', login, { authorization: '' });
      expect(answer.status).toBe(200);
      return String(((await answer.json()) as { readonly token: unknown }).token);
    },
  };
}

async function ask(method: string, path: string, key: string, body?: object) {
  const answer = await calls.app.call(method, path, body, { authorization: `Bearer ${key}` });
  return { status: answer.status, body: (await answer.json()) as Readonly<Record<string, unknown>> };
}

describe('rules for one key apply to its sessions', () => {
  it('policies that are attached to its alias', async () => {
    const { key, open } = await keyOfUser({ key_alias: 'watched' });
    const session = await open();
    for (const one of [key, session]) {
      const { status, body } = await calls.chat(one, 'free');
      expect([status, body]).toEqual([400, expect.objectContaining({ error: expect.anything() as unknown })]);
    }
  });

  it('decisions of a service by its alias', async () => {
    const { key, open } = await keyOfUser({ key_alias: 'known', metadata: { guardrails: ['service'] } });
    for (const one of [key, await open()]) {
      expect((await calls.chat(one, 'free')).status).toBe(200);
      const { request_data: about } = JSON.parse(service.received.at(-1)?.body ?? '{}') as Record<string, unknown>;
      expect(about).toMatchObject({ user_api_key_alias: 'known' });
    }
  });

  it('blocks of tools', async () => {
    const { key, open } = await keyOfUser({ metadata: { guardrails: ['tools'] } });
    const session = await open();
    const offer = {
      model: 'free',
      messages: [{ role: 'user', content: 'x' }],
      tools: [{ type: 'function', function: { name: 'mail', parameters: {} } }],
    };
    const statuses = async () => [
      (await ask('POST', '/v1/chat/completions', key, offer)).status,
      (await ask('POST', '/v1/chat/completions', session, offer)).status,
    ];
    expect(await statuses()).toEqual([200, 200]);
    await calls.manage('/v1/tool/policy', { tool_name: 'mail', input_policy: 'blocked', key_hash: key });
    expect(await statuses()).toEqual([400, 400]);
  });
});

describe('objects that a session stores at an upstream', () => {
  it('belong to the key that opened it, and to its other sessions', async () => {
    calls.upstream.answer((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ id: 'file-up', object: 'file', purpose: 'fine-tune', bytes: 2, filename: 'a' }));
    });
    const { key, open } = await keyOfUser({});
    const [first, second] = [await open(), await open()];
    const form = new FormData();
    for (const [name, value] of Object.entries({ purpose: 'fine-tune', model: 'free' })) form.append(name, value);
    form.append('file', new Blob(['{}']), 'a.jsonl');
    const headers = { authorization: `Bearer ${first}` };
    const made = await fetch(`${calls.app.url}/v1/files`, { method: 'POST', headers, body: form });
    const { id } = (await made.json()) as { readonly id: string };
    expect(made.status).toBe(200);
    const statusFor = async (one: string) => (await ask('GET', `/v1/files/${id}`, one)).status;
    expect([await statusFor(first), await statusFor(second), await statusFor(key)]).toEqual([200, 200, 200]);
    const { open: openOther } = await keyOfUser({});
    expect(await statusFor(await openOther())).toBe(404);
    calls.upstreamUses(2);
  });
});

describe('workflow runs of a session', () => {
  const RUNS = '/v1/workflows/runs';

  it('belong to the key that opened it, and to its other sessions', async () => {
    const { key, open } = await keyOfUser({});
    const [first, second] = [await open(), await open()];
    const { body: run } = await ask('POST', RUNS, first, { workflow_type: 'build' });
    const path = `${RUNS}/${String(run['run_id'])}`;
    for (const one of [first, second, key]) {
      expect((await ask('GET', path, one)).body).toMatchObject({ run_id: run['run_id'] });
      expect((await ask('GET', RUNS, one)).body).toMatchObject({ count: 1 });
    }
    const { open: openOther } = await keyOfUser({});
    expect((await ask('GET', path, await openOther())).status).toBe(404);
  });
});
