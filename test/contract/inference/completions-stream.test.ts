import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { newTrace, spansIn } from './trace-spans.ts';

const PATH = '/v1/completions';
const REQUEST = { model: 'assistant', prompt: 'Once upon', stream: true };
const REQUEST_WITH_USAGE = { ...REQUEST, stream_options: { include_usage: true } };
const DONE = 'data: [DONE]\n\n';

let app: TestApp;
let upstream: FaultServer;

beforeAll(async () => {
  upstream = await startFaultServer();
  const params = { model: 'openai/up-1', api_base: `${upstream.url}/v1`, api_key: 'sk-upstream-credential-0123456789' };
  const prices = { input_cost_per_token: 0.5, output_cost_per_token: 0.25 };
  app = await startApp({
    config: { model_list: [{ model_name: 'assistant', litellm_params: { ...params, ...prices } }] },
  });
});

afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

const event = (value: object, model = 'up-1'): string =>
  `data: ${JSON.stringify({ id: 'cmpl-1', object: 'text_completion', created: 1, model, ...value })}\n\n`;
const piece = (text: string, finish: string | null = null, members: object = {}, model = 'up-1'): string =>
  event({ choices: [{ text, index: 0, logprobs: null, finish_reason: finish }], ...members }, model);
/** Usage that costs 1.75 with the prices above. */
const USAGE = { usage: { prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 } };
const usage = (model = 'up-1'): string => event({ choices: [], ...USAGE }, model);

function streamWith(...events: readonly string[]): void {
  upstream.answer((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(events.join(''));
  });
}

const ask = (body: object, headers: Record<string, string> = {}): Promise<Response> =>
  app.call('POST', PATH, body, headers);

describe('completions.create 200, streamed', () => {
  it('ends with the requested usage, and [DONE]', async () => {
    streamWith(piece('a'), piece(' time', 'stop'), usage(), DONE);
    const { traceId, headers } = newTrace();
    const response = await ask(REQUEST_WITH_USAGE, headers);
    expect(await response.text()).toBe(
      [piece('a', null, {}, 'assistant'), piece(' time', 'stop', {}, 'assistant'), usage('assistant'), DONE].join(''),
    );
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
      'x-litellm-model-group': 'assistant',
    });
    expect(JSON.parse(upstream.received.at(-1)?.body ?? '')).toEqual({ ...REQUEST_WITH_USAGE, model: 'up-1' });
    expect(await spansIn(app, traceId)).toMatchObject([
      {
        name: 'text_completion assistant',
        attributes: { 'gen_ai.response.id': 'cmpl-1', 'gen_ai.response.finish_reasons': '["stop"]' },
        spendRow: {
          callType: 'atext_completion',
          costUsd: '1.75',
          status: 'SUCCESS',
          usage: { inputTokens: 2, outputTokens: 3 },
        },
      },
    ]);
  });

  it('is billed, but has no chunk with usage unless the request asks for it', async () => {
    streamWith(piece('a', 'stop'), usage(), DONE);
    const { traceId, headers } = newTrace();
    const response = await ask(REQUEST, headers);
    expect(await response.text()).toBe(`${piece('a', 'stop', {}, 'assistant')}${DONE}`);
    expect(JSON.parse(upstream.received.at(-1)?.body ?? '')).toEqual({ ...REQUEST_WITH_USAGE, model: 'up-1' });
    expect(await spansIn(app, traceId)).toMatchObject([
      { spendRow: { costUsd: '1.75', usage: { inputTokens: 2, outputTokens: 3 } } },
    ]);
  });

  it('keeps the text of chunks with usage', async () => {
    const counted = (text: string, finish: string | null = null): string => piece(text, finish, USAGE, 'assistant');
    streamWith(counted('a'), counted(' time'), counted('', 'stop'), DONE);
    expect(await (await ask(REQUEST)).text()).toBe(`${counted('a')}${counted(' time')}${counted('', 'stop')}${DONE}`);
  });

  it('ends with an error when the upstream fails during the stream', async () => {
    streamWith(piece('a', null, {}, 'assistant'), 'data: {"error":{"message":"overloaded","type":"t","code":503}}\n\n');
    const { traceId, headers } = newTrace();
    const response = await ask(REQUEST, headers);
    const error = {
      message: 'litellm.ServiceUnavailableError: ServiceUnavailableError: OpenAIException - overloaded',
      type: null,
      param: null,
      code: '503',
    };
    expect([response.status, await response.text()]).toEqual([
      200,
      `${piece('a', null, {}, 'assistant')}data: ${JSON.stringify({ error })}\n\n`,
    ]);
    expect(await spansIn(app, traceId)).toMatchObject([
      { spendRow: { status: 'FAILURE', errorCode: 'UPSTREAM_FAILED' } },
    ]);
  });

  it('cancels the upstream call when the client disconnects', async () => {
    upstream.answer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(piece('a'));
    });
    const controller = new AbortController();
    await fetch(`${app.url}${PATH}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${app.adminKey}` },
      body: JSON.stringify(REQUEST),
      signal: controller.signal,
    });
    controller.abort();
    await expect(upstream.nextDisconnect()).resolves.toBeUndefined();
  });
});

it.each([
  ['stream', 'yes', 'a boolean'],
  ['stream_options', 'usage', 'an object'],
])('completions.create 400: %s of the wrong type', async (field, value, wanted) => {
  const response = await ask({ ...REQUEST, [field]: value });
  const message = `/completions: Invalid type for parameter '${field}': it must be ${wanted}.`;
  expect([response.status, await response.json()]).toEqual([
    400,
    { error: { message, type: 'invalid_request_error', param: field, code: '400' } },
  ]);
});

it('completions.create 500: the upstream answers without a stream', async () => {
  upstream.answer((response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end('{"choices":[]}');
  });
  const response = await ask(REQUEST);
  const message =
    "litellm.APIError: APIError: OpenAIException - The upstream's answer cannot be used: a stream was requested, but it is not a stream.";
  expect([response.status, await response.json()]).toEqual([
    500,
    { error: { message, type: 'internal_server_error', param: null, code: '500' } },
  ]);
});
