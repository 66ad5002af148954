import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { modelNameError } from '../../support/error-bodies.ts';
import { openRealtime, refusalOf } from '../../support/realtime-client.ts';
import { type RealtimeUpstream, startRealtimeUpstream } from '../../support/realtime-upstream.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

const CREDENTIAL = 'sk-upstream-credential-0123456789';
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

let app: TestApp;
let upstream: RealtimeUpstream;

beforeAll(async () => {
  upstream = await startRealtimeUpstream();
  const params = { model: 'openai/gpt-realtime', api_base: `${upstream.url}/v1`, api_key: CREDENTIAL };
  app = await startApp({
    config: {
      model_list: [
        { model_name: 'voice', litellm_params: params, model_info: { id: 'voice-1' } },
        {
          model_name: 'azure-voice',
          litellm_params: { ...params, model: 'azure/gpt-realtime', api_base: `${upstream.url}/openai/v1` },
        },
        {
          model_name: 'reserved-voice',
          litellm_params: params,
          model_info: {
            access_windows: [
              { start: '00:00', end: '12:00', team_ids: ['red'] },
              { start: '12:00', end: '00:00', team_ids: ['red'] },
            ],
          },
        },
        {
          model_name: 'older-azure-voice',
          litellm_params: {
            ...params,
            model: 'azure/gpt-realtime',
            api_base: upstream.url,
            api_version: '2025-04-01-preview',
          },
        },
      ],
    },
  });
});

afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

async function newKey(draft: object): Promise<string> {
  const response = await app.call('POST', '/key/generate', draft);
  return ((await response.json()) as { key: string }).key;
}

describe('realtime.connect 101', () => {
  it.each(['/v1/realtime', '/realtime', '/openai/v1/realtime', '/openai/realtime'])(
    'opens a session at %s, with the credential of the upstream',
    async (path) => {
      const client = await openRealtime(app, { path: `${path}?model=voice` });
      const session = await upstream.session();
      expect([session.path, session.headers.authorization]).toEqual([
        '/v1/realtime?model=gpt-realtime',
        `Bearer ${CREDENTIAL}`,
      ]);
      expect(client.headers).toMatchObject({
        'x-litellm-call-id': expect.stringMatching(UUID),
        'x-litellm-model-id': 'voice-1',
        'x-litellm-model-group': 'voice',
      });
      client.socket.close();
      await session.closed;
    },
  );

  it('accepts a key and a deployment name in the format of Azure clients', async () => {
    const path = '/openai/realtime?api-version=2025-04-01-preview&deployment=voice';
    const client = await openRealtime(app, { path, headers: { 'api-key': app.adminKey } });
    const session = await upstream.session();
    expect(session.path).toBe('/v1/realtime?model=gpt-realtime');
    expect(JSON.stringify(session.headers)).not.toContain(app.adminKey);
    client.socket.close();
    await session.closed;
  });

  it('accepts a key in a subprotocol, as from browsers, and does not return or forward it', async () => {
    const key = await newKey({ key_alias: 'browser' });
    const protocols = ['realtime', `openai-insecure-api-key.${key}`, 'openai-beta.realtime-v1'];
    const client = await openRealtime(app, { headers: {}, protocols });
    const session = await upstream.session();
    expect(client.socket.protocol).toBe('realtime');
    expect(session.headers['openai-beta']).toBe('realtime=v1');
    expect(JSON.stringify([client.headers, session.headers, session.path])).not.toContain(key);
    client.socket.close();
    await session.closed;
  });

  it('forwards only headers and query parameters that are for the upstream', async () => {
    const headers = {
      authorization: `Bearer ${app.adminKey}`,
      'openai-beta': 'realtime=v1',
      'openai-safety-identifier': 'user-7',
      cookie: 'session=secret',
      'x-private': 'secret',
    };
    const path = '/v1/realtime?model=voice&intent=transcription&other=1';
    const client = await openRealtime(app, { path, headers });
    const session = await upstream.session();
    expect(session.path).toBe('/v1/realtime?intent=transcription');
    expect(session.headers).toMatchObject({ 'openai-beta': 'realtime=v1', 'openai-safety-identifier': 'user-7' });
    expect(JSON.stringify(session.headers)).not.toContain('secret');
    client.socket.close();
    await session.closed;
  });

  it.each([
    ['azure-voice', '/openai/v1/realtime?model=gpt-realtime'],
    ['older-azure-voice', '/openai/realtime?api-version=2025-04-01-preview&deployment=gpt-realtime'],
  ])('sends the credential in the header of Azure, to the path of Azure (%s)', async (model, path) => {
    const client = await openRealtime(app, { path: `/v1/realtime?model=${model}` });
    const { headers, path: sentPath, closed } = await upstream.session();
    expect([sentPath, headers['api-key'], headers.authorization]).toEqual([path, CREDENTIAL, undefined]);
    client.socket.close();
    await closed;
  });

  it('uses the call id of the caller', async () => {
    const headers = { authorization: `Bearer ${app.adminKey}`, 'x-litellm-call-id': 'mine-1' };
    const client = await openRealtime(app, { headers });
    expect(client.headers['x-litellm-call-id']).toBe('mine-1');
    client.socket.close();
    await (
      await upstream.session()
    ).closed;
  });
});

describe('realtime.connect 400', () => {
  const invalid = (message: string, param: string | null) => ({
    error: { message, type: 'invalid_request_error', param, code: '400' },
  });

  it.each([
    ['no model', '/v1/realtime', invalid("/realtime: Missing required parameter: 'model'.", 'model')],
    [
      'a model name that is too long',
      `/v1/realtime?model=${'m'.repeat(513)}`,
      invalid('/realtime: The name of a model has at most 512 characters.', 'model'),
    ],
    [
      'an unknown intent',
      '/v1/realtime?model=voice&intent=sing',
      invalid("/realtime: The parameter 'intent' must be 'transcription' or left out.", 'intent'),
    ],
    [
      'the id of a call to join',
      '/v1/realtime?model=voice&call_id=rtc_1',
      invalid('/realtime: Joining a call (`call_id`) is not supported.', null),
    ],
    [
      'a model without sessions',
      '/v1/realtime?model=demo',
      invalid('/realtime: The model `demo` has no realtime sessions.', null),
    ],
    [
      'an unknown model',
      '/v1/realtime?model=unheard-of',
      {
        error: {
          ...modelNameError(
            '/realtime: Invalid model name passed in model=unheard-of. Call `/v1/models` to view available models for your key.',
          ),
          code: '400',
        },
      },
    ],
  ])('for %s', async (_case, path, body) => {
    expect(await refusalOf(app, { path })).toMatchObject({
      status: 400,
      headers: { 'content-type': 'application/json', connection: 'close' },
      body,
    });
  });

  it('for a request that is not a WebSocket', async () => {
    const response = await app.call('GET', '/v1/realtime?model=voice');
    expect([response.status, await response.json()]).toEqual([
      400,
      invalid('/realtime: This path is a WebSocket. Send `Connection: Upgrade` and `Upgrade: websocket`.', null),
    ]);
  });

  it.each([
    ['a method that is not GET', 'POST', {}, 'the method must be GET'],
    [
      'a malformed Sec-WebSocket-Key',
      'GET',
      { 'sec-websocket-key': 'short' },
      'Sec-WebSocket-Key is missing or not valid',
    ],
    ['an old version', 'GET', { 'sec-websocket-version': '8' }, 'Sec-WebSocket-Version must be 13'],
    ['an invalid subprotocol', 'GET', { 'sec-websocket-protocol': 'a b' }, 'Sec-WebSocket-Protocol is not valid'],
  ])('for %s', async (_case, method, overrides, reason) => {
    const headers = {
      authorization: `Bearer ${app.adminKey}`,
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
      'sec-websocket-version': '13',
      ...overrides,
    };
    const answered = new Promise((resolve, reject) => {
      const outgoing = request(`${app.url}/v1/realtime?model=voice`, { method, headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => resolve([response.statusCode, JSON.parse(Buffer.concat(chunks).toString())]));
      });
      outgoing.on('error', reject).end();
    });
    expect(await answered).toEqual([400, invalid(`/realtime: This is not a WebSocket handshake: ${reason}.`, null)]);
  });
});

describe('realtime.connect 401', () => {
  it('without a key', async () => {
    expect(await refusalOf(app, { headers: {} })).toMatchObject({
      status: 401,
      body: {
        error: {
          message:
            'Authentication Error, No api key passed in. Send it as `Authorization: Bearer sk-...`: the `Bearer ` prefix is needed.',
          type: 'auth_error',
          param: 'None',
          code: '401',
        },
      },
    });
  });

  it('with a subprotocol that carries an empty key', async () => {
    const refused = await refusalOf(app, { headers: {}, protocols: ['realtime', 'openai-insecure-api-key.'] });
    expect([refused.status, refused.body]).toEqual([
      401,
      {
        error: {
          message: 'Authentication Error, No api key passed in: the key subprotocol is empty.',
          type: 'auth_error',
          param: 'None',
          code: '401',
        },
      },
    ]);
  });

  it('with an unknown key; the error has only the last characters of the key', async () => {
    const protocols = ['realtime', 'openai-insecure-api-key.sk-unknown-virtual-key'];
    const { status, headers, body } = await refusalOf(app, { headers: {}, protocols });
    expect([status, body]).toEqual([
      401,
      {
        error: {
          message: expect.stringMatching(
            /^Authentication Error, Invalid proxy server token passed\. Received API Key = sk-\.\.\.-key, Key Hash \(Token\) =[0-9a-f]{64}\. /,
          ),
          type: 'token_not_found_in_db',
          param: 'key',
          code: '401',
        },
      },
    ]);
    expect(JSON.stringify([headers, body])).not.toContain('sk-unknown');
  });
});

it('realtime.connect 403: a model that the key may not call, whether or not it exists', async () => {
  const key = await newKey({ models: ['another'] });
  for (const model of ['voice', 'unheard-of']) {
    const path = `/v1/realtime?model=${model}`;
    const refused = await refusalOf(app, { path, headers: { authorization: `Bearer ${key}` } });
    expect([refused.status, refused.body]).toEqual([
      403,
      {
        error: {
          message: `The requested model '${model}' is not available for this API key, or the model name is invalid. Check the models available to you and try again.`,
          type: 'key_model_access_denied',
          param: 'model',
          code: '403',
        },
      },
    ]);
  }
});

it('realtime.connect 422: a key with a used-up budget', async () => {
  const key = await newKey({ key_alias: 'poor', max_budget: 0 });
  const refused = await refusalOf(app, { headers: { authorization: `Bearer ${key}` } });
  expect([refused.status, refused.body]).toEqual([
    422,
    {
      error: {
        message: `Budget has been exceeded! Key=poor (sk-...${key.slice(-4)}) Current cost: 0.0, Max budget: 0.0`,
        type: 'budget_exceeded',
        param: null,
        code: '422',
      },
    },
  ]);
  expect(refused.headers['x-litellm-call-id']).toMatch(UUID);
});

it('an upgrade to another protocol or on another path is ignored: the request is served over HTTP', async () => {
  const answered = (path: string, upgrade: string) =>
    new Promise((resolve, reject) => {
      const outgoing = request(`${app.url}${path}`, { headers: { connection: 'Upgrade', upgrade } }, (response) =>
        response.resume().on('end', () => resolve(response.statusCode)),
      );
      outgoing.on('error', reject).end();
    });
  expect(await answered('/health/liveness', 'h2c')).toBe(200);
  expect(await answered('/health/liveness', 'websocket')).toBe(200);
  expect(await answered('/v1/realtime', 'h2c')).toBe(401);
});

it('realtime.connect 403: a call that names a blocked customer', async () => {
  expect((await app.call('POST', '/customer/block', { user_ids: ['blocked'] })).status).toBe(200);
  const headers = { authorization: `Bearer ${app.adminKey}`, 'x-litellm-customer-id': 'blocked' };
  expect(await refusalOf(app, { headers })).toMatchObject({
    status: 403,
    body: { error: { type: 'permission_error', message: expect.stringContaining('End user=blocked') as string } },
  });
});

it('refuses a session at a deployment that is reserved for another team', async () => {
  const path = '/v1/realtime?model=reserved-voice';
  const refused = await refusalOf(app, { path });
  expect(refused.status).toBe(400);
  expect(JSON.stringify(refused.body)).toContain('is reserved for another team until');
  await app.call('POST', '/team/new', { team_id: 'red' });
  const authorization = `Bearer ${await newKey({ team_id: 'red' })}`;
  const client = await openRealtime(app, { path, headers: { authorization } });
  const session = await upstream.session();
  client.socket.close();
  await session.closed;
});
