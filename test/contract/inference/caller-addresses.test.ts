import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { completionOf, MESSAGES } from './scripted.ts';

const MESSAGE = "The parameter 'api_base' cannot be honoured: the gateway does not call this address.";
const REFUSAL = { error: { message: MESSAGE, type: 'invalid_request_error', param: 'api_base', code: '400' } };

const CHAT = { model: 'gpt', messages: MESSAGES };

let app: TestApp;
let operatorUpstream: FaultServer;
let callerUpstream: FaultServer;

beforeAll(async () => {
  operatorUpstream = await startFaultServer();
  callerUpstream = await startFaultServer();
  for (const upstream of [operatorUpstream, callerUpstream])
    upstream.answer((response, _socket, { path }) => {
      if (path.startsWith('/elsewhere')) {
        response.writeHead(307, { location: `${operatorUpstream.url}/v1/chat/completions` });
        return response.end();
      }
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(completionOf('up')));
    });
  app = await startApp({
    config: {
      model_list: [
        {
          model_name: 'gpt',
          litellm_params: { model: 'openai/up', api_base: `${operatorUpstream.url}/v1`, api_key: 'sk-a' },
        },
        {
          model_name: 'claude',
          litellm_params: { model: 'anthropic/up', api_base: operatorUpstream.url, api_key: 'sk-a' },
        },
      ],
      general_settings: { allow_client_side_credentials: true },
      litellm_settings: { user_url_allowed_hosts: [new URL(callerUpstream.url).host] },
    },
  });
});

afterAll(async () => {
  await app.stop();
  await operatorUpstream.stop();
  await callerUpstream.stop();
});

async function ask(path: string, body: object) {
  const response = await app.call('POST', path, body);
  return { status: response.status, body: (await response.json()) as unknown };
}

describe('an api_base that a caller chooses', () => {
  it.each([
    ['loopback', (port: string) => `http://127.0.0.1:${port}/v1`],
    ['a decimal address', (port: string) => `http://2130706433:${port}/v1`],
    ['a hexadecimal address', (port: string) => `http://0x7f.1:${port}/v1`],
    ['an octal address', (port: string) => `http://0177.0.0.1:${port}/v1`],
    ['an IPv4 address mapped to IPv6', (port: string) => `http://[::ffff:127.0.0.1]:${port}/v1`],
    ['an address with a final dot', (port: string) => `http://127.0.0.1.:${port}/v1`],
    ['a user name that looks like a public host', (port: string) => `http://public.example@127.0.0.1:${port}/v1`],
    ['the unspecified address', (port: string) => `http://0.0.0.0:${port}/v1`],
    ['the name localhost', (port: string) => `http://localhost:${port}/v1`],
    ['an unknown host name', (port: string) => `http://no-such-host.invalid:${port}/v1`],
    ['the metadata service of a cloud', () => 'http://169.254.169.254/latest/meta-data'],
    ['loopback over TLS', (port: string) => `https://127.0.0.1:${port}/v1`],
  ])('is refused with the same message: %s', async (_what, baseOf) => {
    // The gateway has an open connection to the operator's deployment. A call to a caller's address must not use this
    // connection.
    expect((await ask('/v1/chat/completions', CHAT)).status).toBe(200);
    const before = operatorUpstream.received.length;
    const api_base = baseOf(new URL(operatorUpstream.url).port);
    expect(await ask('/v1/chat/completions', { ...CHAT, api_base })).toEqual({ status: 400, body: REFUSAL });
    expect(operatorUpstream.received.length).toBe(before);
  });

  it('is refused in every dialect, and for token counts', async () => {
    const before = operatorUpstream.received.length;
    const api_base = operatorUpstream.url;
    const contents = [{ role: 'user', parts: [{ text: 'x' }] }];
    for (const [path, body] of [
      ['/v1/chat/completions', { ...CHAT, stream: true }],
      ['/v1/chat/completions', { ...CHAT, model: 'claude' }],
      ['/v1/completions', { model: 'gpt', prompt: 'x' }],
      ['/v1/embeddings', { model: 'gpt', input: 'x' }],
      ['/v1/responses', { model: 'gpt', input: 'x' }],
      ['/v1/responses', { model: 'claude', input: 'x', stream: true }],
    ] as const)
      expect(await ask(path, { ...body, api_base })).toEqual({ status: 400, body: REFUSAL });
    const anthropic = { type: 'error', error: { type: 'invalid_request_error', message: MESSAGE } };
    for (const path of ['/v1/messages', '/v1/messages/count_tokens'])
      for (const stream of [false, true])
        expect(await ask(path, { ...CHAT, max_tokens: 9, model: 'claude', stream, api_base })).toMatchObject({
          status: 400,
          body: anthropic,
        });
    for (const action of ['generateContent', 'streamGenerateContent'])
      expect(await ask(`/v1beta/models/gpt:${action}`, { contents, api_base })).toMatchObject({
        status: 400,
        body: { error: { message: MESSAGE } },
      });
    expect(operatorUpstream.received.length).toBe(before);
  });

  it('is called if user_url_allowed_hosts lists its host', async () => {
    const api_base = `${callerUpstream.url}/v1`;
    expect(await ask('/v1/chat/completions', { ...CHAT, api_base })).toEqual({
      status: 200,
      body: { ...completionOf('up'), model: 'gpt' },
    });
  });

  it('cannot redirect the call to an address that is not allowed', async () => {
    const before = operatorUpstream.received.length;
    const answer = await ask('/v1/chat/completions', { ...CHAT, api_base: `${callerUpstream.url}/elsewhere` });
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(operatorUpstream.received.length).toBe(before);
  });

  it('is not called when the request asks for retries', async () => {
    const before = operatorUpstream.received.length;
    const body = { ...CHAT, api_base: operatorUpstream.url, num_retries: 3 };
    expect(await ask('/v1/chat/completions', body)).toMatchObject({ status: 400 });
    expect(operatorUpstream.received.length).toBe(before);
  });
});
