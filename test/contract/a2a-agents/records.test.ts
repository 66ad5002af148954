import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { cardOf, startAgent, type TestAgent } from '../../support/a2a-agent.ts';
import { startFaultServer } from '../../support/fault-server.ts';
import { POLLING } from '../../support/polling.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { newTrace, spansIn } from '../inference/trace-spans.ts';
import { newKey, sendAs } from '../pass-through/targets.ts';

let app: TestApp;
let agent: TestAgent;
let key: string;
const ids = new Map<string, string>();

async function createAgent(name: string, body: Record<string, unknown> = {}): Promise<void> {
  const card = cardOf(agent.url, '0.3');
  const answer = await app.call('POST', '/v1/agents', { agent_name: name, agent_card_params: card, ...body });
  ids.set(name, ((await answer.json()) as { readonly agent_id: string }).agent_id);
}

const idOf = (name: string): string => ids.get(name) ?? '';

beforeAll(async () => {
  agent = await startAgent('0.3');
  app = await startApp();
  key = await newKey(app, { user_id: 'someone' });
  // The first query builds the graph, which is slow. No test has to wait for that.
  await (await app.call('POST', '/graphql', { query: '{ __typename }' })).text();
});

afterAll(async () => {
  await app.stop();
  await agent.stop();
});

const rpc = (method: string, params: unknown = {}) => ({ jsonrpc: '2.0', id: 'r1', method, params });
const message = (text: string) => ({ message: { role: 'user', messageId: 'm', parts: [{ kind: 'text', text }] } });
const send = (text: string) => rpc('message/send', message(text));

const post = (
  path: string,
  body: unknown,
  { headers = {}, as = key }: { readonly headers?: Record<string, string>; readonly as?: string | null } = {},
): Promise<Response> =>
  sendAs(app, as, {
    method: 'POST',
    path,
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
  });

/** Spend row of the call in a new trace. Polls, because records are stored behind the call. */
async function rowOf(path: string, body: unknown): Promise<unknown> {
  const { traceId, headers } = newTrace();
  await (await post(path, body, { headers })).arrayBuffer();
  const spans = await vi.waitFor(() => spansIn(app, traceId), POLLING);
  return (spans as readonly { readonly spendRow: unknown }[])[0]?.spendRow;
}

describe('what an agent gets', () => {
  it('headers for it, static headers and facts of the call, but no key', async () => {
    await createAgent('headers', {
      static_headers: { 'x-static': 'mine', 'x-tenant': 'fixed' },
      extra_headers: ['X-Extra', 'x-api-key', 'authorization'],
      litellm_params: { api_key: 'agent-key' },
    });
    const team = await app.call('POST', '/team/new', { team_alias: 'a2a' });
    const { team_id } = (await team.json()) as { readonly team_id: string };
    const teamKey = await newKey(app, { team_id, user_id: 'someone' });
    await post('/a2a/headers', send('hi'), {
      as: teamKey,
      headers: {
        'x-a2a-headers-x-mine': 'by name',
        [`x-a2a-${idOf('headers')}-x-other`]: 'by id',
        'x-a2a-plain-x-foreign': 'for another agent',
        'x-a2a-headers-x-tenant': 'not mine',
        'x-extra': 'passed',
        'x-unknown': 'dropped',
        'x-api-key': teamKey,
        'x-litellm-trace-id': 'trace-1',
        'a2a-extensions': 'https://example.com/ext',
      },
    });
    const {
      host: _host,
      connection: _connection,
      'content-length': _length,
      ...headers
    } = agent.requests.at(-1)?.headers ?? {};
    expect(headers).toEqual({
      accept: 'application/json, text/event-stream',
      authorization: 'Bearer agent-key',
      'content-type': 'application/json',
      'user-agent': expect.stringMatching(/^lensgate\//),
      'a2a-version': '0.3',
      'a2a-extensions': 'https://example.com/ext',
      'x-mine': 'by name',
      'x-other': 'by id',
      'x-extra': 'passed',
      'x-static': 'mine',
      'x-tenant': 'fixed',
      'x-litellm-agent-id': idOf('headers'),
      'x-litellm-team-id': team_id,
      'x-litellm-trace-id': 'trace-1',
      'x-litellm-user-id': 'someone',
    });
  });
});

describe('records of messages', () => {
  it('a message has the cost per query', async () => {
    await createAgent('per-query', { litellm_params: { cost_per_query: 0.25 } });
    expect(await rowOf('/a2a/per-query', send('12345678'))).toEqual({
      callType: 'asend_message',
      modelGroup: 'a2a_agent/echo',
      model: 'a2a_agent/echo',
      costUsd: '0.25',
      status: 'SUCCESS',
      errorCode: null,
      usage: { inputTokens: 2, outputTokens: 4, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
    });
  });

  it('spend logs name the provider of an agent once', async () => {
    type Logs = readonly { readonly model: string; readonly call_type: string }[];
    const logs = async () => (await (await app.call('GET', '/spend/logs?summarize=false')).json()) as Logs;
    const ofAgents = async () => (await logs()).filter(({ call_type: type }) => type.startsWith('asend_message'));
    await createAgent('logged');
    await rowOf('/a2a/logged', send('12345678'));
    await expect.poll(async () => (await ofAgents()).length, POLLING).toBeGreaterThan(0);
    expect(new Set((await ofAgents()).map(({ model }) => model))).toEqual(new Set(['a2a_agent/echo']));
  });

  it('a stream has the cost of its estimated tokens', async () => {
    const litellm_params = { input_cost_per_token: 0.001, output_cost_per_token: 0.01 };
    await createAgent('per-token', { litellm_params });
    // 9 bytes are 3 tokens; `done: task 1234` has 15 bytes, which are 4 tokens.
    expect(await rowOf('/a2a/per-token', rpc('message/stream', message('task 1234')))).toMatchObject({
      callType: 'asend_message_streaming',
      costUsd: '0.043',
      usage: { inputTokens: 3, outputTokens: 4 },
    });
  });

  it.each([
    ['application/json', (text: string) => text],
    ['text/event-stream', (text: string) => `data: ${text}\n\n`],
  ])('an answer with %s above 4 MiB is not free', async (type, framed) => {
    const target = await startFaultServer();
    const parts = [{ kind: 'text', text: 'x'.repeat(5 * 1024 * 1024) }];
    const answer = framed(JSON.stringify({ jsonrpc: '2.0', id: 'r1', result: { kind: 'message', parts } }));
    target.answer((response) => response.writeHead(200, { 'content-type': type }).end(answer));
    const name = `large-${type.replace('/', '-')}`;
    await createAgent(name, {
      agent_card_params: { url: target.url, protocolVersion: '0.3' },
      litellm_params: { output_cost_per_token: 0.001 },
    });
    const row = (await rowOf(`/a2a/${name}`, send('hi'))) as { readonly usage: { readonly outputTokens: number } };
    expect(row.usage.outputTokens).toBeGreaterThanOrEqual(1024 * 1024);
    await target.stop();
  });

  it('the agent reads only the method that is billed', async () => {
    const body = '{"method":"message/send","jsonrpc":"2.0","id":"r1","method":"tasks/list","params":{}}';
    const target = await startFaultServer();
    target.answer((response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'));
    await createAgent('twice', { agent_card_params: { url: target.url, protocolVersion: '0.3' } });
    await post('/a2a/twice', body);
    expect(target.received.at(-1)?.body.match(/"method"/g)).toHaveLength(1);
    await target.stop();
  });

  it('an error of the agent costs nothing, and neither do tasks', async () => {
    const unknownTask = { message: { ...message('hi').message, taskId: 'nope' } };
    expect(await rowOf('/a2a/per-query', rpc('message/send', unknownTask))).toMatchObject({
      callType: 'asend_message',
      costUsd: '0',
      status: 'FAILURE',
      errorCode: 'UPSTREAM_FAILED',
    });
    expect(await rowOf('/a2a/per-query', rpc('tasks/list'))).toMatchObject({
      callType: 'pass_through_endpoint',
      costUsd: '0',
    });
  });
});

describe('an agent that fails during a call', () => {
  it('a stream that breaks off ends with an error event', async () => {
    const target = await startFaultServer();
    target.answer((response, socket) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {"jsonrpc":"2.0","id":"r1","result":{"kind":"task"}}\n\n', () => socket.destroy());
    });
    await createAgent('breaking', { agent_card_params: { url: target.url, protocolVersion: '0.3' } });
    const answer = await post('/a2a/breaking', rpc('message/stream', message('hi')));
    const events = (await answer.text()).split('\n\n').filter((event) => event.startsWith('data: '));
    expect(events.map((event): unknown => JSON.parse(event.slice('data: '.length)))).toEqual([
      { jsonrpc: '2.0', id: 'r1', result: { kind: 'task' } },
      { jsonrpc: '2.0', id: 'r1', error: { code: -32_603, message: expect.any(String) } },
    ]);
    await target.stop();
  });

  it.each([
    [307, { location: 'http://127.0.0.1:1/' }, 'The agent answered with status 307.'],
    [200, { 'content-type': 'text/html' }, 'The agent answered neither with JSON nor with events.'],
  ])('an answer %i with %j is not relayed', async (status, head, why) => {
    const target = await startFaultServer();
    target.answer((response) => response.writeHead(status, head).end('<script></script>'));
    const name = `answers-${status}`;
    const litellm_params = { cost_per_query: 0.25 };
    await createAgent(name, { agent_card_params: { url: target.url, protocolVersion: '0.3' }, litellm_params });
    expect(await rowOf(`/a2a/${name}`, send('hi'))).toMatchObject({ costUsd: '0', errorCode: 'UPSTREAM_FAILED' });
    const body = JSON.stringify(send('hi'));
    const answer = await fetch(`${app.url}/a2a/answers-${status}`, {
      method: 'POST',
      redirect: 'manual',
      headers: { authorization: `Bearer ${key}` },
      body,
    });
    expect([answer.status, answer.headers.get('location'), await answer.json()]).toEqual([
      500,
      null,
      { jsonrpc: '2.0', id: 'r1', error: { code: -32_603, message: why } },
    ]);
    await target.stop();
  });

  it('an agent that does not answer in its time is an internal error', async () => {
    const target = await startFaultServer();
    target.answer(() => {});
    const litellm_params = { timeout: 0.2 };
    await createAgent('slow', { agent_card_params: { url: target.url, protocolVersion: '0.3' }, litellm_params });
    const answer = await post('/a2a/slow', send('hi'));
    expect([answer.status, await answer.json()]).toEqual([
      500,
      { jsonrpc: '2.0', id: 'r1', error: { code: -32_603, message: expect.any(String) } },
    ]);
    await target.stop();
  });
});

it('secrets of agents are not in the files of the database, and not in the audit log', async () => {
  await createAgent('secretive', {
    static_headers: { authorization: 'Bearer hidden-header' },
    litellm_params: { api_key: 'hidden-api-key' },
    kill_switch: { url: 'http://127.0.0.1:1/', auth: { token: 'hidden-token' } },
  });
  const audit = await app.call('GET', '/audit?object_id=' + idOf('secretive'));
  const entries = await audit.text();
  expect(entries).toContain(idOf('secretive'));
  const files = readdirSync(app.dataDir).filter((name) => name.includes('.db') || name.includes('sqlite'));
  expect(files.length).toBeGreaterThan(0);
  const stored = files.map((name) => readFileSync(join(app.dataDir, name), 'latin1')).join('');
  expect(stored).toContain('secretive');
  for (const secret of ['hidden-header', 'hidden-api-key', 'hidden-token']) {
    expect(stored).not.toContain(secret);
    expect(entries).not.toContain(secret);
  }
});
