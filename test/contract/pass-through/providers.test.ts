import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { newTrace, spansIn } from '../inference/trace-spans.ts';
import { answerOf, echoRequests, newKey, sendAs } from './targets.ts';

const JSON_TYPE = { 'content-type': 'application/json' };
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

let app: TestApp;
let appWithoutAccounts: TestApp;
let target: FaultServer;
let key: string;
let limitedKey: string;

beforeAll(async () => {
  target = await startFaultServer();
  const base = (name: string): string => `${target.url}/${name}`;
  const served = {
    model_name: 'served',
    litellm_params: { model: 'hosted_vllm/m1', api_base: base('own'), api_key: 'vk' },
  };
  app = await startApp({
    env: {
      CODEAGENT_API_BASE: base('agents'),
      CODEAGENT_API_KEY: 'agent-key',
      OPENAI_API_BASE: `${base('oa')}/v1`,
      OPENAI_API_KEY: 'oa-key',
      ANTHROPIC_API_BASE: base('an'),
      ANTHROPIC_API_KEY: 'an-key',
      GEMINI_API_BASE: base('gem'),
      GEMINI_API_KEY: 'gm-key',
      AZURE_API_BASE: base('az'),
      AZURE_API_KEY: 'az-key',
      OPENROUTER_API_BASE: `${base('or')}/api/v1`,
      OPENROUTER_API_KEY: 'or-key',
      LAYA_API_BASE: base('laya'),
    },
    config: { model_list: [served] },
  });
  appWithoutAccounts = await startApp();
  key = await newKey(app);
  limitedKey = await newKey(app, { models: ['served'] });
});

beforeEach(() => echoRequests(target));

afterAll(async () => {
  await app.stop();
  await appWithoutAccounts.stop();
  await target.stop();
});

const lastRequest = () => target.received.at(-1);

/**
 * Groups of routes: name, one path, its upstream path, and the credential that the upstream gets. The last two members
 * are the provider and the environment variable that an error about a missing key names.
 */
const GROUPS = [
  [
    'forwarded',
    '/openai/v1/things/1',
    '/oa/v1/things/1',
    { authorization: 'Bearer oa-key' },
    'openai',
    'OPENAI_API_KEY',
  ],
  [
    'forwardedGemini',
    '/gemini/v1beta/files/1',
    '/gem/v1beta/files/1',
    { 'x-goog-api-key': 'gm-key' },
    'gemini',
    'GOOGLE_API_KEY',
  ],
  [
    'codingAgents',
    '/codeagent/v0/agents/bc_1',
    '/agents/v0/agents/bc_1',
    { authorization: `Basic ${btoa('agent-key:')}` },
    'Cursor',
    'CURSOR_API_KEY',
  ],
] as const;

const ROWS = GROUPS.flatMap(([name, ...group]) =>
  METHODS.map((method) => [`${name}.${method.toLowerCase()}`, method, ...group] as const),
);

describe.each(ROWS)('%s', (_row, method, path, upstream, credential, provider, variable) => {
  const send = (caller: string | null, body: BodyInit = '{}', requestPath: string = path, server = app) =>
    sendAs(server, caller, { method, path: requestPath, headers: JSON_TYPE, ...(method === 'GET' ? {} : { body }) });

  it('200: the request is forwarded with the credential of the provider, without the key of the caller', async () => {
    const response = await send(key, '{"a":  1}', `${path}?x=1`);
    expect([response.status, lastRequest()?.method, lastRequest()?.path]).toEqual([200, method, `${upstream}?x=1`]);
    expect(lastRequest()?.headers).toMatchObject(credential);
    expect(JSON.stringify(lastRequest())).not.toContain(key);
    expect(lastRequest()?.body).toBe(method === 'GET' ? '' : '{"a":  1}');
  });

  it('400: a path that would leave the base address, and a body that is not JSON', async () => {
    const refused = {
      message: 'The path cannot be forwarded: it contains dot segments, empty segments or characters no path has.',
      type: 'invalid_request_error',
      param: null,
      code: '400',
    };
    const count = target.received.length;
    expect(await answerOf(await send(key, '{}', `${path}/..%2f..%2fadmin`))).toEqual([400, { error: refused }]);
    expect(await answerOf(await send(key, '{}', `${path}//admin`))).toEqual([400, { error: refused }]);
    const broken = await send(key, 'zzz');
    expect(broken.status).toBe(method === 'GET' ? 200 : 400);
    expect(target.received.length).toBe(method === 'GET' ? count + 1 : count);
  });

  it('401: no key, and no account of the provider', async () => {
    expect((await send(null)).status).toBe(401);
    expect(await answerOf(await send(appWithoutAccounts.adminKey, '{}', path, appWithoutAccounts))).toEqual([
      401,
      {
        detail: `${provider} API key not found. Store a credential of the provider \`${provider.toLowerCase()}\` or set ${variable}.`,
      },
    ]);
  });

  it('403: a model that the key may not call, unless the request names no model', async () => {
    const pathWithModel = path.startsWith('/codeagent') ? '/codeagent/v0/agents' : `${path}/models/secret:count`;
    const response = await send(limitedKey, '{"model":"secret"}', pathWithModel);
    const isUnnamed = method === 'GET' && path.startsWith('/codeagent');
    expect(response.status).toBe(isUnnamed ? 200 : 403);
  });
});

describe('a model that is not configured, without a key of the provider', () => {
  const text = (path: string, provider: string, variable: string): string =>
    `${path}: Invalid model name passed in model=other. Call \`/v1/models\` to view available models for your key. The request cannot be forwarded to the provider: ${provider} API key not found. Store a credential of the provider \`${provider}\` or set ${variable}.`;
  const post = async (path: string, body: object) => {
    const request = { method: 'POST', path, headers: JSON_TYPE, body: JSON.stringify(body) };
    return answerOf(await sendAs(appWithoutAccounts, appWithoutAccounts.adminKey, request));
  };
  const messages = [{ role: 'user', content: 'hi' }];

  it('is refused at /anthropic/v1/messages with the name of the variable', async () => {
    const message = text('/messages', 'anthropic', 'ANTHROPIC_API_KEY');
    expect(await post('/anthropic/v1/messages', { model: 'other', max_tokens: 5, messages })).toEqual([
      400,
      {
        type: 'error',
        error: { type: 'invalid_request_error', message, provider_specific_fields: { error: message } },
      },
    ]);
  });

  it('is refused below /gemini/v1beta/models with the name of the variable', async () => {
    const message = text('/generateContent', 'gemini', 'GOOGLE_API_KEY');
    const body = { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] };
    expect(await post('/gemini/v1beta/models/other:generateContent', body)).toEqual([
      404,
      { error: { code: 404, message, status: 'NOT_FOUND' } },
    ]);
  });

  it('is refused at /v1/messages without it: these requests are not forwarded', async () => {
    const [status, body] = await post('/v1/messages', { model: 'other', max_tokens: 5, messages });
    expect([status, JSON.stringify(body).includes('API_KEY')]).toEqual([400, false]);
  });
});

describe('the models of a key', () => {
  const statusOf = async (path: string, headers: Record<string, string>, body: string): Promise<number> => {
    const count = target.received.length;
    const { status } = await sendAs(app, limitedKey, { method: 'POST', path, headers, body });
    expect(target.received.length).toBe(status === 200 ? count + 1 : count);
    return status;
  };

  it('apply to the model in the path and to the model in the body', async () => {
    const path = '/gemini/v1beta/files/1/models/secret:count';
    expect(await statusOf(path, JSON_TYPE, '{"model":"served"}')).toBe(403);
    expect(await statusOf(path.replace('secret', 'served'), JSON_TYPE, '{"model":"secret"}')).toBe(403);
    expect(await statusOf(path.replace('secret', 'served'), JSON_TYPE, '{"model":"served"}')).toBe(200);
  });

  it('apply to a JSON body of another content type; x-pass-content-type does not replace the type', async () => {
    const path = '/openai/v1/things';
    const types = { 'content-type': 'text/plain', 'x-pass-content-type': 'application/json' };
    expect(await statusOf(path, types, ' {"model":"secret"}')).toBe(403);
    expect(await statusOf(path, types, '{"model":"served"}')).toBe(200);
    expect(lastRequest()?.headers).toMatchObject({ 'content-type': 'text/plain' });
    expect(await statusOf(path, types, '{"model"')).toBe(403);
  });
});

it('codingAgents.get 403: a key for other routes only', async () => {
  const keyOfOtherRoutes = await newKey(app, { allowed_routes: ['/key/info'] });
  expect((await sendAs(app, keyOfOtherRoutes, { path: '/codeagent/v0/me' })).status).toBe(403);
});

describe('the coding agents', () => {
  it.each([
    ['POST', '/v0/agents', 'cursor:agent:create'],
    ['GET', '/v0/agents', 'cursor:agent:list'],
    ['GET', '/v0/agents/bc_1', 'cursor:agent:status'],
    ['DELETE', '/v0/agents/bc_1', 'cursor:agent:delete'],
    ['GET', '/v0/agents/bc_1/conversation', 'cursor:agent:conversation'],
    ['POST', '/v0/agents/bc_1/followup', 'cursor:agent:followup'],
    ['POST', '/v0/agents/bc_1/stop', 'cursor:agent:stop'],
    ['GET', '/v0/me/', 'cursor:account:info'],
    ['GET', '/v0/models', 'cursor:models:list'],
    ['GET', '/v0/repositories', 'cursor:repositories:list'],
    ['PUT', '/v0/agents/bc_1', 'cursor:put:/v0/agents/bc_1'],
  ])('%s %s is recorded as %s, with a cost of 0', async (method, path, name) => {
    const { traceId, headers } = newTrace();
    const response = await sendAs(app, key, { method, path: `/cursor${path}`, headers });
    expect(response.headers.get('x-litellm-response-cost')).toBe('0');
    await response.text();
    expect(await spansIn(app, traceId)).toMatchObject([
      {
        attributes: { 'gen_ai.operation.name': name, 'gen_ai.provider.name': 'cursor' },
        spendRow: {
          callType: 'pass_through_endpoint',
          modelGroup: `cursor/${name}`,
          model: `cursor/${name}`,
          costUsd: '0',
          status: 'SUCCESS',
        },
      },
    ]);
  });

  it('relay errors and bytes that are not JSON', async () => {
    target.answer((response) => {
      response.writeHead(404, JSON_TYPE);
      response.end('not json');
    });
    expect(await answerOf(await sendAs(app, key, { path: '/codeagent/v0/agents/nope' }))).toEqual([404, 'not json']);
  });

  it('do not receive requests for the list of models: the gateway answers them', async () => {
    for (const path of ['/cursor/models', '/cursor/v1/models']) {
      const [status, models] = await answerOf(await sendAs(app, limitedKey, { path }));
      expect([status, models]).toMatchObject([200, { data: [{ id: 'served' }] }]);
    }
  });
});

describe('calls of providers', () => {
  it('usage in a known format is priced', async () => {
    const { traceId, headers } = newTrace();
    const usage = { prompt_tokens: 1000, completion_tokens: 10, total_tokens: 1010 };
    const choices = [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }];
    const providerAnswer = { id: 'c', object: 'chat.completion', created: 1, model: 'gpt-4o', choices, usage };
    target.answer((response) => {
      response.writeHead(200, JSON_TYPE);
      response.end(JSON.stringify(providerAnswer));
    });
    const body = JSON.stringify({ model: 'gpt-4o', messages: [] });
    const request = {
      method: 'POST',
      path: '/openai/v1/chat/completions',
      body,
      headers: { ...JSON_TYPE, ...headers },
    };
    expect(await answerOf(await sendAs(app, key, request))).toEqual([200, providerAnswer]);
    const [span] = (await spansIn(app, traceId)) as readonly { readonly spendRow: Record<string, unknown> }[];
    expect(span?.spendRow).toMatchObject({ usage: { inputTokens: 1000, outputTokens: 10 }, status: 'SUCCESS' });
    expect(Number(span?.spendRow['costUsd'])).toBeGreaterThan(0);
  });

  it('usage in a stream is recorded', async () => {
    const { traceId, headers } = newTrace();
    const events = [
      { type: 'message_start', message: { id: 'm', model: 'claude', usage: { input_tokens: 5, output_tokens: 1 } } },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 7 } },
      { type: 'message_stop' },
    ];
    const text = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
    target.answer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(text);
    });
    const body = JSON.stringify({ model: 'claude-unlisted', max_tokens: 5, messages: [], stream: true });
    const request = { method: 'POST', path: '/anthropic/v1/messages', body, headers: { ...JSON_TYPE, ...headers } };
    const response = await sendAs(app, key, request);
    expect(await response.text()).toBe(text);
    expect(lastRequest()?.headers).toMatchObject({ 'x-api-key': 'an-key' });
    expect(await spansIn(app, traceId)).toMatchObject([{ spendRow: { usage: { inputTokens: 5, outputTokens: 7 } } }]);
  });

  it.each([
    ['/openrouter/v1/chat', '/or/api/v1/chat', { authorization: 'Bearer or-key' }],
    ['/openrouter/alpha/decisions', '/or/api/alpha/decisions', { authorization: 'Bearer or-key' }],
    ['/openai/things', '/oa/v1/things', { authorization: 'Bearer oa-key' }],
    [
      '/azure/openai/deployments/d/x?api-version=1',
      '/az/openai/deployments/d/x?api-version=1',
      { 'api-key': 'az-key' },
    ],
    ['/vllm/v1/models', '/own/v1/models', { authorization: 'Bearer vk' }],
    ['/gemini/v1beta/x?key=KEY&alt=sse', '/gem/v1beta/x?alt=sse', { 'x-goog-api-key': 'gm-key' }],
  ])('%s is forwarded to %s', async (path, upstream, credential) => {
    const isKeyInQuery = path.includes('KEY');
    await sendAs(app, isKeyInQuery ? null : key, { path: path.replace('KEY', key) });
    expect(lastRequest()).toMatchObject({ path: upstream, headers: credential });
  });

  it('are forwarded only with headers of the API of the provider', async () => {
    const headers = { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'x', 'openai-organization': 'o' };
    await sendAs(app, key, { path: '/anthropic/v1/organizations', headers });
    const { 'openai-organization': foreign, ...forwarded } = lastRequest()?.headers ?? {};
    expect([forwarded, foreign]).toMatchObject([
      { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'x' },
      undefined,
    ]);
  });

  it('are forwarded with the upstream name of a configured model', async () => {
    const body = '{"model": "served", "a":  1}';
    await sendAs(app, limitedKey, { method: 'POST', path: '/vllm/v1/chat/completions', body, headers: JSON_TYPE });
    expect(lastRequest()).toMatchObject({ path: '/own/v1/chat/completions', body: '{"model": "m1","a":  1}' });
    const unknown = await sendAs(app, key, {
      method: 'POST',
      path: '/vllm/v1/x',
      body: '{"model":"z"}',
      headers: JSON_TYPE,
    });
    expect(unknown.status).toBe(400);
  });

  it('may use only paths and models of the API of the provider', async () => {
    const send = (path: string, body: object) =>
      sendAs(app, key, { method: 'POST', path, body: JSON.stringify(body), headers: JSON_TYPE });
    expect((await send('/laya/v1/systemone', { model: 'english' })).status).toBe(200);
    expect(lastRequest()?.path).toBe('/laya/v1/systemone');
    expect((await send('/laya/v1/systemone', { model: 'x' })).status).toBe(400);
    expect((await send('/laya/v1/systemone', { model: 'english', stream: true })).status).toBe(400);
    expect(await answerOf(await send('/laya/v1/other', { model: 'english' }))).toEqual([404, { detail: 'Not Found' }]);
  });
});
