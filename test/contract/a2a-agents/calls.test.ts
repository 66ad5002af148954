import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cardOf, startAgent, type TestAgent } from '../../support/a2a-agent.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { answerOf, newKey, sendAs } from '../pass-through/targets.ts';

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
  app = await startApp({
    config: {
      guardrails: [
        {
          guardrail_name: 'no-apples',
          litellm_params: {
            guardrail: 'litellm_content_filter',
            mode: 'pre_call',
            blocked_words: [{ keyword: 'apple', action: 'BLOCK' }],
          },
        },
      ],
    },
  });
  key = await newKey(app, { user_id: 'someone' });
  await createAgent('plain');
});

afterAll(async () => {
  await app.stop();
  await agent.stop();
});

const rpc = (method: string, params: unknown = {}, id: unknown = 'r1') => ({ jsonrpc: '2.0', id, method, params });
const message = (text: string) => ({ message: { role: 'user', messageId: 'm', parts: [{ kind: 'text', text }] } });
const send = (text: string, id: unknown = 'r1') => rpc('message/send', message(text), id);

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

const ask = async (...args: Parameters<typeof post>) => answerOf(await post(...args));
const rpcError = (code: number, text: unknown, id: unknown = 'r1') => ({
  jsonrpc: '2.0',
  id,
  error: { code, message: text },
});
const echoed = (text: string) => ({
  jsonrpc: '2.0',
  id: 'r1',
  result: expect.objectContaining({ kind: 'message', parts: [expect.objectContaining({ text: `echo: ${text}` })] }),
});

describe('messages to agents', () => {
  it('a2a.call 200: relays the answer, on each path, by name and by id', async () => {
    for (const path of ['/a2a/plain', `/a2a/${idOf('plain')}`, '/a2a/plain/message/send', '/v1/a2a/plain/message/send'])
      // oxlint-disable-next-line no-await-in-loop -- one request after another
      expect(await ask(path, send('hi'))).toEqual([200, echoed('hi')]);
  });

  it('a2a.call 200: names of methods of the other version are sent in the version of the card', async () => {
    expect(await ask('/a2a/plain', rpc('SendMessage', message('hi')))).toEqual([200, echoed('hi')]);
    expect(agent.requests.at(-1)?.body.method).toBe('message/send');
  });

  it('a2a.call 200: answers the extended card itself, with the address of the gateway', async () => {
    const [status, body] = await ask('/a2a/plain', rpc('agent/getAuthenticatedExtendedCard'));
    expect(status).toBe(200);
    expect(body).toMatchObject({ jsonrpc: '2.0', id: 'r1', result: { name: 'echo', url: `${app.url}/a2a/plain` } });
    expect(JSON.stringify(body)).not.toContain(agent.url);
  });

  it('a2a.call 400 and 404: errors have the id of the request', async () => {
    expect(await ask('/a2a/nope', rpc('message/send', {}, 1))).toEqual([
      404,
      rpcError(-32_000, "Agent 'nope' not found", 1),
    ]);
    expect(await ask('/a2a/plain', '{"jsonrpc"')).toEqual([
      400,
      rpcError(-32_700, 'Parse error: the body is not valid JSON', null),
    ]);
    expect(await ask('/a2a/plain', [])).toEqual([
      400,
      rpcError(-32_600, 'Invalid Request: the body must be one JSON-RPC object', null),
    ]);
    expect(await ask('/a2a/plain', { id: 2, method: 'message/send' })).toEqual([
      400,
      rpcError(-32_600, "Invalid Request: jsonrpc must be '2.0'", 2),
    ]);
    expect(await ask('/a2a/plain', rpc('nope'))).toEqual([400, rpcError(-32_601, "Method 'nope' not found")]);
    expect(await ask('/a2a/plain', rpc('message/send', {}))).toEqual([
      400,
      rpcError(-32_602, 'Invalid params: message is required'),
    ]);
    expect(await ask('/a2a/plain', rpc('tasks/get', {}))).toEqual([
      400,
      rpcError(-32_602, 'Invalid params: id is required'),
    ]);
  });

  it('a2a.call 400: members that differ from those of a message only in letter case', async () => {
    expect(await ask('/a2a/plain', { ...rpc('tasks/list'), Method: 'message/send' })).toEqual([
      400,
      rpcError(-32_600, 'Invalid Request: the member Method must be method'),
    ]);
  });

  it('a2a.call 400: addresses of push notifications must be https', async () => {
    const refused = [400, rpcError(-32_602, 'Invalid params: the url of a push notification must begin with https://')];
    const config = { url: 'http://127.0.0.1/' };
    const set = rpc('tasks/pushNotificationConfig/set', { taskId: 't', pushNotificationConfig: config });
    expect(await ask('/a2a/plain', set)).toEqual(refused);
    const configuration = { pushNotificationConfig: config };
    expect(await ask('/a2a/plain', rpc('message/send', { ...message('x'), configuration }))).toEqual(refused);
  });

  it('a2a.call 401: without a key', async () => {
    expect(await ask('/a2a/plain', send('hi'), { as: null })).toEqual([
      401,
      { error: expect.objectContaining({ type: 'auth_error', code: '401' }) },
    ]);
  });

  it('a2a.call and a2a.card 403: for a key that names other agents, and for a disabled agent', async () => {
    const other = await newKey(app, { object_permission: { agents: ['other'] } });
    const denied = [403, { detail: `Access denied to agent: ${idOf('plain')}` }];
    expect(await ask('/a2a/plain', send('hi'), { as: other })).toEqual(denied);
    const cardPath = '/a2a/plain/.well-known/agent-card.json';
    expect(await answerOf(await sendAs(app, other, { path: cardPath }))).toEqual(denied);
    await createAgent('disabled', { enabled: false });
    expect(await ask('/a2a/disabled', send('hi'))).toEqual([403, { detail: `Agent is disabled: ${idOf('disabled')}` }]);
  });

  it('a2a.call 200: for keys that name the agent, by id, by name and by an access group', async () => {
    const grants = [{ agents: [idOf('plain')] }, { agents: ['plain'] }];
    for (const object_permission of grants) {
      // oxlint-disable-next-line no-await-in-loop -- one request after another
      const granted = await newKey(app, { object_permission });
      // oxlint-disable-next-line no-await-in-loop -- as above
      expect(await ask('/a2a/plain', send('hi'), { as: granted })).toEqual([200, echoed('hi')]);
    }
    const group = await app.call('POST', '/v1/access_group', {
      access_group_name: 'agents',
      access_agent_ids: [idOf('plain')],
    });
    const { access_group_id: groupId } = (await group.json()) as { readonly access_group_id: string };
    const ofGroup = await newKey(app, { access_group_ids: [groupId] });
    await createAgent('outside');
    expect(await ask('/a2a/plain', send('hi'), { as: ofGroup })).toEqual([200, echoed('hi')]);
    expect(await ask('/a2a/outside', send('hi'), { as: ofGroup })).toEqual([
      403,
      { detail: `Access denied to agent: ${idOf('outside')}` },
    ]);
  });

  it('a2a.call 500: when the agent is unreachable, and when it answers no JSON', async () => {
    await createAgent('down', { agent_card_params: { url: 'http://127.0.0.1:1/' } });
    expect(await ask('/a2a/down', send('hi'))).toEqual([500, rpcError(-32_603, expect.any(String))]);
    // The gateway itself is no agent: it answers 404 as JSON, and 401 for the missing key.
    await createAgent('refusing', { agent_card_params: { url: `${app.url}/a2a/plain` } });
    expect(await ask('/a2a/refusing', send('hi'))).toEqual([
      500,
      rpcError(-32_603, 'The agent answered with status 401.'),
    ]);
  });

  it('a2a.call 503: for a card without a url', async () => {
    await createAgent('without-url', { agent_card_params: {} });
    expect(await ask('/a2a/without-url', send('hi'))).toEqual([
      503,
      rpcError(-32_603, `The card of agent ${idOf('without-url')} has no url.`),
    ]);
  });

  it('a2a.call 400: for an agent of another provider', async () => {
    await createAgent('langgraph', { litellm_params: { custom_llm_provider: 'langgraph' } });
    expect(await ask('/a2a/langgraph', send('hi'))).toEqual([
      400,
      rpcError(-32_000, "Agents of the provider 'langgraph' are not served. Only agents with the A2A protocol are."),
    ]);
  });

  it('a2a.call 400: guardrails of the agent check the message', async () => {
    await createAgent('guarded', { litellm_params: { guardrails: ['no-apples'] } });
    const [status, body] = await ask('/a2a/guarded', send('an apple'));
    expect([status, body]).toEqual([400, rpcError(-32_000, expect.stringContaining('apple'))]);
    expect(await ask('/a2a/guarded', send('a pear'))).toEqual([200, echoed('a pear')]);
  });

  it('a2a.call 422: for a key whose budget is used up', async () => {
    const poor = await newKey(app, { max_budget: 0 });
    await createAgent('costly', { litellm_params: { cost_per_query: 1 } });
    expect(await ask('/a2a/costly', send('hi'), { as: poor })).toEqual([
      422,
      { error: expect.objectContaining({ type: 'budget_exceeded' }) },
    ]);
  });

  it('a2a.call 429: limits of the agent count all callers, limits of a session its own calls', async () => {
    await createAgent('limited', { rpm_limit: 1 });
    const limitOf = (scope: string) => [
      429,
      { error: expect.objectContaining({ message: expect.stringContaining(scope), code: '429' }) },
    ];
    expect((await post('/a2a/limited', send('hi'))).status).toBe(200);
    expect(await ask('/a2a/limited', send('hi'), { as: await newKey(app) })).toEqual(limitOf('agent'));
    await createAgent('session-limited', { session_rpm_limit: 1 });
    const inSession = (session: string) => ({ headers: { 'x-litellm-trace-id': session } });
    expect((await post('/a2a/session-limited', send('hi'), inSession('s1'))).status).toBe(200);
    expect((await post('/a2a/session-limited', send('hi'), inSession('s2'))).status).toBe(200);
    expect(await ask('/a2a/session-limited', send('hi'), inSession('s1'))).toEqual(limitOf('agent_session'));
  });

  it('a2a.call 400 and 429: sessions have the calls and the budget of their agent', async () => {
    const litellm_params = { require_trace_id_on_calls_to_agent: true, max_iterations: 1 };
    await createAgent('sessions', { litellm_params });
    const inSession = { headers: { 'x-litellm-trace-id': 's' } };
    expect(await ask('/a2a/sessions', send('hi'))).toEqual([
      400,
      rpcError(-32_600, 'This agent requires the header x-litellm-trace-id.'),
    ]);
    expect((await post('/a2a/sessions', send('hi'), inSession)).status).toBe(200);
    expect(await ask('/a2a/sessions', send('hi'), inSession)).toEqual([
      429,
      { error: expect.objectContaining({ message: 'Session s has used all 1 calls of agent sessions.' }) },
    ]);
    // A call that is refused before it is sent does not count.
    const limits = { litellm_params: { max_iterations: 1, guardrails: ['no-apples'] } };
    await createAgent('selective', limits);
    expect((await post('/a2a/selective', send('an apple'), inSession)).status).toBe(400);
    const poor = await newKey(app, { rpm_limit: 0 });
    expect((await post('/a2a/selective', send('hi'), { ...inSession, as: poor })).status).toBe(429);
    expect((await post('/a2a/selective', send('hi'), inSession)).status).toBe(200);
    expect((await post('/a2a/selective', send('hi'), inSession)).status).toBe(429);
    await createAgent('budgeted', { litellm_params: { cost_per_query: 0.5, max_budget_per_session: 0.5 } });
    expect(await ask('/a2a/budgeted', send('hi'), inSession)).toEqual([200, echoed('hi')]);
    expect(await ask('/a2a/budgeted', send('hi'), inSession)).toEqual([
      429,
      { error: expect.objectContaining({ message: 'Session s has used its budget of 0.5 USD for agent budgeted.' }) },
    ]);
  });
});

describe('headers of answers', () => {
  const CALL_ID = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/) as string;

  it('a2a.call: failures have the id of the call', async () => {
    await createAgent('guarded', { litellm_params: { guardrails: ['no-apples'] } });
    const poor = await newKey(app, { rpm_limit: 0 });
    const failures = [
      await post('/a2a/nope', send('hi')),
      await post('/a2a/plain', rpc('nope')),
      await post('/a2a/guarded', send('an apple')),
      await post('/a2a/plain', send('hi'), { as: poor }),
    ];
    expect(failures.map(({ status, headers }) => [status, headers.get('x-litellm-call-id')])).toEqual([
      [404, CALL_ID],
      [400, CALL_ID],
      [400, CALL_ID],
      [429, CALL_ID],
    ]);
    expect(failures[2]?.headers.get('x-litellm-applied-guardrails')).toBe('no-apples');
    expect((await post('/a2a/plain', send('hi'), { as: null })).headers.get('x-litellm-call-id')).toBeNull();
  });

  it('a2a.call 200: only administrators see the address of the agent', async () => {
    const headerFor = async (as: string) =>
      (await post('/a2a/plain', send('hi'), { as })).headers.get('x-litellm-model-api-base');
    expect(await headerFor(key)).toBeNull();
    expect(await headerFor(app.adminKey)).toContain('http://127.0.0.1');
  });
});

describe('cards of agents', () => {
  it.each(['agent-card.json', 'agent.json'])(
    'a2a.card 200: %s names the address by which it was asked',
    async (file) => {
      const cardAt = async (asked: string) => {
        const answer = await sendAs(app, key, { path: `/a2a/${asked}/.well-known/${file}` });
        return [answer.status, await answer.json()];
      };
      for (const asked of ['plain', idOf('plain')]) {
        const url = `${app.url}/a2a/${asked}`;
        // oxlint-disable-next-line no-await-in-loop -- one request after another
        expect(await cardAt(asked)).toEqual([
          200,
          expect.objectContaining({
            name: 'echo',
            url,
            supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '0.3' }],
          }),
        ]);
      }
    },
  );

  it('a2a.card 401 and 404: without a key, and for an unknown agent', async () => {
    const path = '/a2a/nope/.well-known/agent-card.json';
    expect(await answerOf(await sendAs(app, key, { path }))).toEqual([404, { detail: "Agent 'nope' not found" }]);
    expect(await answerOf(await sendAs(app, null, { path }))).toEqual([
      401,
      { error: expect.objectContaining({ type: 'auth_error', code: '401' }) },
    ]);
  });
});
