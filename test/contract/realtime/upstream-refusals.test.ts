import { afterAll, beforeAll, expect, it } from 'vitest';
import { upstreamErrorType } from '../../support/error-bodies.ts';
import { refusalOf } from '../../support/realtime-client.ts';
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
        { model_name: 'voice', litellm_params: params },
        { model_name: 'hurried', litellm_params: { ...params, timeout: 0.05 } },
        { model_name: 'nowhere', litellm_params: { ...params, api_base: 'http://127.0.0.1:1/v1' } },
      ],
    },
  });
});

afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

/** Makes the upstream answer a handshake with an HTTP status. */
function answerWith(status: number, body: string): void {
  upstream.answer((wire) => {
    wire.end(
      `HTTP/1.1 ${status} No\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
  });
}

it.each([
  ['realtime.connect 429', 429, 'RateLimitError'],
  ['realtime.connect 503', 503, 'ServiceUnavailableError'],
  ['realtime.connect 401', 401, 'AuthenticationError'],
])('%s: the message of the upstream, without the credential that it repeats', async (_row, status, kind) => {
  answerWith(status, JSON.stringify({ error: { message: `not with ${CREDENTIAL}`, type: 'no', code: 'why' } }));
  const refused = await refusalOf(app);
  expect([refused.status, refused.body]).toEqual([
    status,
    {
      error: {
        message: `litellm.${kind}: ${kind}: OpenAIException - not with <secret>`,
        type: upstreamErrorType(status),
        param: null,
        code: 'why',
      },
    },
  ]);
  expect(refused.headers['x-litellm-call-id']).toMatch(UUID);
});

it('realtime.connect 500: an upstream that answers 200 without an upgrade', async () => {
  answerWith(200, '{}');
  const { status, body } = await refusalOf(app);
  expect([status, body]).toEqual([
    500,
    {
      error: {
        message:
          'litellm.APIConnectionError: APIConnectionError: OpenAIException - The upstream answered 200 instead of opening a WebSocket.',
        type: 'internal_server_error',
        param: null,
        code: '500',
      },
    },
  ]);
});

it.each([
  [
    'closes the connection',
    'APIConnectionError',
    'The upstream closed the connection before a WebSocket was open (ECONNRESET).',
  ],
  ['does not send HTTP', 'APIError', 'The upstream sent what is not a WebSocket handshake (HPE_INVALID_CONSTANT).'],
  ['sends a wrong Sec-WebSocket-Accept', 'APIError', 'The upstream sent what is not a WebSocket handshake.'],
])('realtime.connect 500: an upstream that %s', async (how, kind, message) => {
  const wrongHandshake =
    'HTTP/1.1 101 Yes\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: no\r\n\r\n';
  upstream.answer((wire) => {
    if (how === 'closes the connection') wire.destroy();
    else wire.end(how === 'sends a wrong Sec-WebSocket-Accept' ? wrongHandshake : 'BOO!\r\n\r\n');
  });
  const { status, body } = await refusalOf(app);
  expect([status, body]).toEqual([
    500,
    {
      error: {
        message: `litellm.${kind}: ${kind}: OpenAIException - ${message}`,
        type: 'internal_server_error',
        param: null,
        code: '500',
      },
    },
  ]);
});

it('realtime.connect 500: an unreachable upstream', async () => {
  const { status, body } = await refusalOf(app, { path: '/v1/realtime?model=nowhere' });
  expect([status, body]).toEqual([
    500,
    {
      error: {
        message:
          'litellm.APIConnectionError: APIConnectionError: OpenAIException - The upstream could not be reached (ECONNREFUSED).',
        type: 'internal_server_error',
        param: null,
        code: '500',
      },
    },
  ]);
});

it('realtime.connect 408: an upstream that does not answer the handshake within the timeout of the deployment', async () => {
  upstream.answer(() => {});
  const { status, body } = await refusalOf(app, { path: '/v1/realtime?model=hurried' });
  expect([status, body]).toEqual([
    408,
    {
      error: {
        message: 'litellm.Timeout: Timeout: OpenAIException - The upstream did not open a WebSocket in time.',
        type: 'invalid_request_error',
        param: null,
        code: '408',
      },
    },
  ]);
});
