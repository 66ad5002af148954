import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { newTrace, spansIn } from './trace-spans.ts';

let app: TestApp;
let upstream: FaultServer;

beforeAll(async () => {
  upstream = await startFaultServer();
  const params = { api_base: `${upstream.url}/v1`, api_key: 'sk-upstream-credential-0123456789' };
  app = await startApp({
    config: {
      general_settings: { upstream_silence_seconds: 0.2 },
      model_list: [
        { model_name: 'chats', litellm_params: { model: 'openai/chat_completions/up', ...params } },
        { model_name: 'thinker', litellm_params: { model: 'openai/up', ...params, use_chat_completions_api: false } },
      ],
    },
  });
});

afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

const TIMEOUT_MESSAGE =
  'litellm.Timeout: Timeout: OpenAIException - The upstream did not answer in time (BODY_TIMEOUT).';
const CHUNK = 'data: {"id":"c","model":"up","choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}]}\n\n';
const CREATED =
  'event: response.created\ndata: {"type":"response.created","sequence_number":0,"response":{"id":"r","object":"response","output":[]}}\n\n';

/** Makes the upstream send this text and then nothing. */
function stallAfter(text: string, contentType = 'text/event-stream'): void {
  upstream.answer((response) => {
    response.writeHead(200, { 'content-type': contentType });
    response.write(text);
  });
}

const MESSAGES = [{ role: 'user', content: 'Hello' }];
/** A call in each dialect, the first event of the upstream, and the last event for the caller. */
const CALLS = [
  {
    row: 'chat.completions',
    path: '/v1/chat/completions',
    body: { model: 'chats', messages: MESSAGES, stream: true },
    firstEvent: CHUNK,
    lastEvent: `data: ${JSON.stringify({ error: { message: TIMEOUT_MESSAGE, type: null, param: null, code: '408' } })}`,
  },
  {
    row: 'messages.create',
    path: '/v1/messages',
    body: { model: 'chats', messages: MESSAGES, max_tokens: 5, stream: true },
    firstEvent: CHUNK,
    lastEvent: `event: error\ndata: ${JSON.stringify({ type: 'error', error: { type: 'timeout_error', message: TIMEOUT_MESSAGE } })}`,
  },
  {
    row: 'content.generate',
    path: '/v1beta/models/chats:streamGenerateContent?alt=sse',
    body: { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] },
    firstEvent: CHUNK,
    lastEvent: `data: ${JSON.stringify({ error: { code: 408, message: TIMEOUT_MESSAGE, status: 'DEADLINE_EXCEEDED' } })}`,
  },
  {
    row: 'responses.create, forwarded',
    path: '/v1/responses',
    body: { model: 'thinker', input: 'Hello', stream: true },
    firstEvent: CREATED,
    lastEvent: `event: error\ndata: ${JSON.stringify({ type: 'error', sequence_number: 1, code: '408', message: TIMEOUT_MESSAGE, param: null })}`,
  },
] as const;

describe.each(CALLS)(
  '$row: an upstream that stops sending within an answer',
  ({ path, body, firstEvent, lastEvent }) => {
    it('times out: the last event is an error, and the upstream connection is closed', async () => {
      stallAfter(firstEvent);
      const { traceId, headers } = newTrace();
      const response = await app.call('POST', path, body, headers);
      expect(response.status).toBe(200);
      const events = (await response.text()).trimEnd().split('\n\n');
      expect(events.length).toBeGreaterThan(1);
      expect(events.at(-1)).toBe(lastEvent);
      await upstream.nextDisconnect();
      expect(await upstream.connections()).toBe(0);
      expect(await spansIn(app, traceId)).toMatchObject([
        { spendRow: { status: 'FAILURE', errorCode: 'UPSTREAM_FAILED' } },
      ]);
    });
  },
);

it('an incomplete translated response is not stored, and its last event has the next sequence number', async () => {
  stallAfter(CHUNK);
  const response = await app.call('POST', '/v1/responses', { model: 'chats', input: 'Hello', stream: true });
  const text = await response.text();
  const events = text.trimEnd().split('\n\n');
  const error = {
    type: 'error',
    sequence_number: events.length - 1,
    code: '408',
    message: TIMEOUT_MESSAGE,
    param: null,
  };
  expect(events.at(-1)).toBe(`event: error\ndata: ${JSON.stringify(error)}`);
  const [, id = ''] = /"id":"(resp_[0-9a-f]{32})"/.exec(text) ?? [];
  expect((await app.call('GET', `/v1/responses/${id}`)).status).toBe(404);
  await upstream.nextDisconnect();
});

it('408: an upstream that stops sending within an answer that is not a stream', async () => {
  stallAfter('{"id":"c",', 'application/json');
  const response = await app.call('POST', '/v1/chat/completions', { model: 'chats', messages: MESSAGES });
  expect([response.status, await response.json()]).toEqual([
    408,
    { error: { message: TIMEOUT_MESSAGE, type: 'invalid_request_error', param: null, code: '408' } },
  ]);
  await upstream.nextDisconnect();
  expect(await upstream.connections()).toBe(0);
});
