import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const CHAT = { messages: [{ role: 'user', content: 'x' }], max_tokens: 9 };

let app: TestApp;
let upstream: FaultServer;
let key: string;

beforeAll(async () => {
  upstream = await startFaultServer();
  upstream.answer((response) => {
    response.writeHead(429, {
      'content-type': 'application/json',
      'retry-after': '9',
      'x-ratelimit-limit-requests': '5',
    });
    response.end('{"error":{"message":"slow down","type":"rate_limit_exceeded","code":null}}');
  });
  const params = { model: 'openai/up-1', api_base: `${upstream.url}/v1`, api_key: 'sk-up', timeout: 20 };
  app = await startApp({ config: { model_list: [{ model_name: 'assistant', litellm_params: params }] } });
  const response = await app.call('POST', '/key/generate', { models: ['assistant'], max_budget: 2.5 });
  ({ key } = (await response.json()) as { key: string });
});

afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

/** Status of a response, and its headers about the call. */
async function headOf(path: string, body: unknown, headers: Record<string, string> = {}) {
  const response = await app.call('POST', path, body, { authorization: `Bearer ${key}`, ...headers });
  await response.text();
  const headerRows = [...response.headers].filter(([name]) => /^(x-litellm|x-ratelimit|llm_provider|retry)/.test(name));
  return { status: response.status, headerRows: Object.fromEntries(headerRows) };
}

const KEY_HEADERS = { 'x-litellm-version': '0.1.0', 'x-litellm-key-max-budget': '2.5' };

describe('a refusal has headers about its call:', () => {
  it.each([
    ['a missing parameter', '/v1/chat/completions', { model: 'assistant' }, 400],
    ['a body that is not JSON', '/v1/chat/completions', '{', 400],
    ['a body that is not an object', '/v1/completions', '[]', 400],
    ['a model that the key may not call', '/v1/embeddings', { model: 'demo', input: 'x' }, 403],
    ['a missing parameter, in Anthropic’s format', '/v1/messages', { model: 'assistant' }, 400],
    [
      'a model that the key may not call, in Google’s format',
      '/v1beta/models/demo:generateContent',
      { contents: [{}] },
      403,
    ],
    ['a body that is not a form', '/v1/files', {}, 400],
    ['a model that the key may not call, for an IDE', '/ide/chat/completions', { model: 'demo', input: 'x' }, 403],
  ])('%s', async (_what, path, body, status) => {
    expect(await headOf(path, body)).toEqual({
      status,
      headerRows: { ...KEY_HEADERS, 'x-litellm-call-id': expect.stringMatching(UUID) },
    });
    expect(await headOf(path, body, { 'x-litellm-call-id': 'mine-1' })).toEqual({
      status,
      headerRows: { ...KEY_HEADERS, 'x-litellm-call-id': 'mine-1' },
    });
  });

  it('an unconfigured model, with the admin key', async () => {
    const admin = { authorization: `Bearer ${app.adminKey}` };
    expect(await headOf('/v1/chat/completions', { ...CHAT, model: 'nothing' }, admin)).toEqual({
      status: 400,
      headerRows: { 'x-litellm-version': '0.1.0', 'x-litellm-call-id': expect.stringMatching(UUID) },
    });
  });

  it('a refusal of an upstream, with the timeout of the call and `retry-after`', async () => {
    for (const path of ['/v1/chat/completions', '/v1/messages'])
      expect(await headOf(path, { ...CHAT, model: 'assistant' })).toEqual({
        status: 429,
        headerRows: {
          ...KEY_HEADERS,
          'x-litellm-call-id': expect.stringMatching(UUID),
          'x-litellm-timeout': '20',
          'retry-after': '9',
          'x-ratelimit-limit-requests': '5',
          'llm_provider-content-type': 'application/json',
          'llm_provider-date': expect.any(String),
          'llm_provider-retry-after': '9',
          'llm_provider-x-ratelimit-limit-requests': '5',
        },
      });
  });

  it('an unknown key, with the version only', async () => {
    for (const path of ['/v1/chat/completions', '/v1/messages', '/v1beta/models/demo:generateContent'])
      expect(await headOf(path, CHAT, { authorization: 'Bearer sk-unknown', 'x-litellm-call-id': 'mine-1' })).toEqual({
        status: 401,
        headerRows: { 'x-litellm-version': '0.1.0' },
      });
  });
});
