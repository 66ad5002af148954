import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

let app: TestApp;
let upstream: FaultServer;

beforeAll(async () => {
  upstream = await startFaultServer();
  const params = { model: 'openai/up-1', api_base: `${upstream.url}/v1`, api_key: 'sk-up' };
  app = await startApp({ config: { model_list: [{ model_name: 'assistant', litellm_params: params }] } });
});

afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

const CHAT = '/v1/chat/completions';
/** A call in each dialect: path and body. */
const CALLS = [
  [CHAT, { messages: [] }],
  ['/v1/messages', { messages: [], max_tokens: 5 }],
  ['/v1beta/models/assistant:generateContent', { contents: [] }],
  ['/v1/responses', { input: 'x' }],
  ['/ide/chat/completions', { input: 'x' }],
  ['/v1/embeddings', { input: 'x' }],
] as const;

async function ask(path: string, body: object, headers: Record<string, string> = {}) {
  const response = await app.call('POST', path, { model: 'assistant', ...body }, headers);
  const { status } = response;
  return { status, timeout: response.headers.get('x-litellm-timeout'), body: (await response.json()) as unknown };
}

describe('the timeout of a request until the first byte', () => {
  it.each(CALLS)('is set by a header or in the body: %s', async (path, body) => {
    upstream.answer(() => {});
    expect(await ask(path, body, { 'x-litellm-timeout': '0.05' })).toMatchObject({ status: 408, timeout: '0.05' });
    expect(await ask(path, { ...body, timeout: 0.06 })).toMatchObject({ status: 408, timeout: '0.06' });
  });

  it('ends the call with a 408 error that names HEAD_TIMEOUT', async () => {
    upstream.answer(() => {});
    expect(await ask(CHAT, { messages: [], timeout: 0.05 })).toEqual({
      status: 408,
      timeout: '0.05',
      body: {
        error: {
          message: 'litellm.Timeout: Timeout: OpenAIException - The upstream did not answer in time (HEAD_TIMEOUT).',
          type: 'invalid_request_error',
          param: null,
          code: '408',
        },
      },
    });
  });

  it('has a separate value for streams, and a header has precedence over the body', async () => {
    upstream.answer(() => {});
    const bodyTimeouts = { messages: [], timeout: 9, stream_timeout: 0.05 };
    expect(await ask(CHAT, { ...bodyTimeouts, stream: true })).toMatchObject({ status: 408, timeout: '0.05' });
    expect(await ask(CHAT, { ...bodyTimeouts, timeout: 0.06 })).toMatchObject({ status: 408, timeout: '0.06' });
    const headers = { 'x-litellm-timeout': '9', 'x-litellm-stream-timeout': '0.07' };
    expect(await ask(CHAT, { ...bodyTimeouts, stream: true }, headers)).toMatchObject({ status: 408, timeout: '0.07' });
    expect(JSON.parse(upstream.received.at(-1)?.body ?? '')).toEqual({
      model: 'up-1',
      messages: [],
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it('400: an invalid duration', async () => {
    const wanted = 'it must be a number of seconds, at most 86400.';
    const refusal = (message: string, param: string) => ({
      status: 400,
      timeout: null,
      body: { error: { message, type: 'invalid_request_error', param, code: '400' } },
    });
    for (const timeout of [0, -1, '5', 86_401])
      expect(await ask(CHAT, { messages: [], timeout })).toEqual(
        refusal(`/chat/completions: Invalid type for parameter 'timeout': ${wanted}`, 'timeout'),
      );
    for (const seconds of ['0', 'soon', '1e9'])
      expect(await ask(CHAT, { messages: [] }, { 'x-litellm-timeout': seconds })).toEqual(
        refusal(`/chat/completions: Invalid value for header 'x-litellm-timeout': ${wanted}`, 'x-litellm-timeout'),
      );
  });
});
