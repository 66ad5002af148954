import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FaultServer, startFaultServer } from '../../support/fault-server.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';
import { newTrace, spansIn } from '../inference/trace-spans.ts';

const PRICES = { input_cost_per_token: 0.5, output_cost_per_token: 0.25 };

let app: TestApp;
let upstream: FaultServer;

beforeAll(async () => {
  upstream = await startFaultServer();
  const params = { api_base: `${upstream.url}/v1`, api_key: 'sk-upstream-credential-0123456789' };
  const native = { ...params, use_chat_completions_api: false };
  app = await startApp({
    config: {
      model_list: [
        { model_name: 'thinker', litellm_params: { model: 'openai/up-1', ...native, ...PRICES } },
        { model_name: 'smaller', litellm_params: { model: 'openai/up-2', ...native } },
        { model_name: 'elsewhere', litellm_params: { model: 'openai/up-3', ...native, api_key: 'sk-another' } },
        { model_name: 'only', litellm_params: { model: 'openai/responses/up-4', ...params } },
      ],
    },
  });
});

afterAll(async () => {
  await app.stop();
  await upstream.stop();
});

const ANSWER = {
  id: 'resp_up',
  object: 'response',
  status: 'completed',
  model: 'up-1',
  output: [{ id: 'msg_1', type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] }],
  usage: {
    input_tokens: 5,
    input_tokens_details: { cached_tokens: 2 },
    output_tokens: 3,
    output_tokens_details: { reasoning_tokens: 1 },
    total_tokens: 8,
  },
  previous_response_id: null,
};
/** Encrypted id of a response that the upstream stores. */
const ENCRYPTED_ID = /^resp_[\w-]{80,}$/;

function answerWith(body: unknown): void {
  upstream.answer((response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  });
}

function streamWith(text: string): void {
  upstream.answer((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(text);
  });
}

async function newKey(): Promise<Record<string, string>> {
  const response = await app.call('POST', '/key/generate', {});
  const { key } = (await response.json()) as { key: string };
  return { authorization: `Bearer ${key}` };
}

async function ask(body: object, headers: Record<string, string> = {}, path = '/v1/responses') {
  const response = await app.call('POST', path, body, headers);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const lastRequestBody = (): unknown => JSON.parse(upstream.received.at(-1)?.body ?? '');
const event = (data: { readonly type: string; readonly [member: string]: unknown }): string =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;

describe('responses.create 200, at an upstream with a Responses API', () => {
  it('the id is encrypted for its owner, and continues the response at its upstream', async () => {
    answerWith(ANSWER);
    const key = await newKey();
    const first = await ask({ model: 'thinker', input: 'Hello' }, key);
    expect(first).toEqual({
      status: 200,
      body: { ...ANSWER, model: 'thinker', id: expect.stringMatching(ENCRYPTED_ID) },
    });
    answerWith({ ...ANSWER, id: 'resp_next', previous_response_id: 'resp_up' });
    const next = await ask({ model: 'smaller', input: 'And?', previous_response_id: first.body['id'] }, key);
    expect(lastRequestBody()).toEqual({ model: 'up-2', input: 'And?', previous_response_id: 'resp_up' });
    expect(next.body).toMatchObject({ id: expect.stringMatching(ENCRYPTED_ID), model: 'smaller' });
    // Another deployment answered, so `previous_response_id` is encrypted with that deployment.
    expect(next.body['previous_response_id']).toMatch(ENCRYPTED_ID);
  });

  it('a stream is forwarded with replaced ids and model names; text deltas are unchanged', async () => {
    const created = event({ type: 'response.created', response: { ...ANSWER, status: 'in_progress' } });
    const delta =
      'event: response.output_text.delta\ndata: {"type":"response.output_text.delta" , "delta":"H\\u0069"}\n\n';
    const completed = event({ type: 'response.completed', response: ANSWER, later: [1e-7] });
    streamWith(`${created}${delta}: a comment\n\n${completed}`);
    const { traceId, headers } = newTrace();
    const response = await app.call('POST', '/responses', { model: 'thinker', input: 'x', stream: true }, headers);
    const text = await response.text();
    const id = /"id":"(resp_[\w-]{80,})"/.exec(text)?.[1] ?? '';
    const asForwarded = (eventText: string): string =>
      eventText.replace('resp_up', id).replace('"model":"up-1"', '"model":"thinker"');
    expect(text).toBe(`${asForwarded(created)}${delta}: a comment\n\n${asForwarded(completed)}`);
    expect(await spansIn(app, traceId)).toMatchObject([
      {
        name: 'chat thinker',
        spendRow: {
          callType: 'aresponses',
          // 5 × 0.50 USD + 3 × 0.25 USD. Cached tokens have no price of their own.
          costUsd: '3.25',
          usage: { inputTokens: 5, outputTokens: 3, cacheReadTokens: 2, cacheWriteTokens: 0, reasoningTokens: 1 },
        },
      },
    ]);
  });

  it('a failed response is forwarded, and counts as a failure', async () => {
    const failed = { ...ANSWER, status: 'failed', error: { code: 'server_error', message: 'Out of thoughts.' } };
    const { traceId, headers } = newTrace();
    streamWith(
      event({ type: 'response.created', response: {} }) + event({ type: 'response.failed', response: failed }),
    );
    const response = await app.call('POST', '/responses', { model: 'thinker', input: 'x', stream: true }, headers);
    expect(await response.text()).toContain('"message":"Out of thoughts."');
    expect(await spansIn(app, traceId)).toMatchObject([
      { spendRow: { status: 'FAILURE', errorCode: 'UPSTREAM_FAILED' } },
    ]);
  });

  it('an error during the stream is the last event, with the next sequence number', async () => {
    upstream.answer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(event({ type: 'response.created', sequence_number: 0, response: ANSWER }));
      response.write(event({ type: 'response.in_progress', sequence_number: 1, response: ANSWER }), () =>
        response.destroy(),
      );
    });
    const response = await app.call('POST', '/responses', { model: 'thinker', input: 'x', stream: true });
    const [last = ''] = (await response.text()).trimEnd().split('\n\n').slice(-1);
    const [name, data = ''] = last.split('\n');
    expect([name, JSON.parse(data.slice('data: '.length))]).toEqual([
      'event: error',
      {
        type: 'error',
        sequence_number: 2,
        code: '500',
        message: expect.stringMatching(/^litellm\.APIConnectionError: APIConnectionError: OpenAIException - /),
        param: null,
      },
    ]);
  });

  it('an error as the first event is answered with status 500', async () => {
    streamWith(event({ type: 'error', code: 'rate_limit_exceeded', message: 'Slower.', param: null }));
    expect(await ask({ model: 'thinker', input: 'x', stream: true })).toEqual({
      status: 500,
      body: {
        error: {
          message: 'litellm.InternalServerError: InternalServerError: OpenAIException - Slower.',
          type: 'internal_server_error',
          param: null,
          code: 'rate_limit_exceeded',
        },
      },
    });
  });

  it('a stream that stops early ends with an error', async () => {
    streamWith(event({ type: 'response.created', sequence_number: 0, response: ANSWER }));
    const response = await app.call('POST', '/responses', { model: 'thinker', input: 'x', stream: true });
    expect(await response.text()).toContain('the stream ended before the answer did');
  });
});

describe('responses.create 400', () => {
  const notFound = (id: string) => ({
    status: 400,
    body: {
      error: {
        message: `Previous response with id '${id}' not found.`,
        type: 'invalid_request_error',
        param: 'previous_response_id',
        code: 'previous_response_not_found',
      },
    },
  });

  it('a response of another owner, an id of the upstream, and a modified id', async () => {
    answerWith(ANSWER);
    const { body } = await ask({ model: 'thinker', input: 'Hello' }, await newKey());
    const id = String(body['id']);
    const callCount = upstream.received.length;
    const otherKey = await newKey();
    for (const previous of [id, 'resp_up', `${id.slice(0, 20)}x${id.slice(21)}`])
      expect(await ask({ model: 'thinker', input: 'x', previous_response_id: previous }, otherKey)).toEqual(
        notFound(previous),
      );
    expect(upstream.received.length).toBe(callCount);
    // Administrators have access to all responses.
    expect((await ask({ model: 'thinker', input: 'x', previous_response_id: id })).status).toBe(200);
  });

  it('a model whose account is not the account of the previous response', async () => {
    answerWith(ANSWER);
    const { body } = await ask({ model: 'thinker', input: 'Hello' });
    expect(await ask({ model: 'elsewhere', input: 'x', previous_response_id: body['id'] })).toEqual({
      status: 400,
      body: {
        error: {
          message:
            'The object that this request refers to is stored at another provider than that of the model "elsewhere".',
          type: 'invalid_request_error',
          param: 'model',
          code: '400',
        },
      },
    });
  });
});

describe('a retried continuation of a stored response', () => {
  it('stays at the account that stores the response: fallbacks at other accounts are skipped', async () => {
    answerWith(ANSWER);
    const { body } = await ask({ model: 'thinker', input: 'Hello' });
    const earlierCalls = upstream.received.length;
    upstream.answer((response, _socket, { body: sentBody }) => {
      const isFirstModel = (JSON.parse(sentBody) as { model: string }).model === 'up-1';
      response.writeHead(isFirstModel ? 500 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(isFirstModel ? { error: { message: 'no' } } : ANSWER));
    });
    const continuation = { model: 'thinker', input: 'And?', previous_response_id: body['id'], num_retries: 1 };
    expect((await ask({ ...continuation, fallbacks: ['elsewhere', 'smaller'] })).status).toBe(200);
    expect(upstream.received.slice(earlierCalls).map((call) => JSON.parse(call.body) as unknown)).toEqual(
      ['up-1', 'up-1', 'up-2'].map((model) => ({ model, input: 'And?', previous_response_id: 'resp_up' })),
    );
    const refused = await ask({ ...continuation, num_retries: 0, fallbacks: ['elsewhere'] });
    expect(refused).toEqual({
      status: 500,
      body: {
        error: {
          message: [
            'litellm.InternalServerError: InternalServerError: OpenAIException - no. Received Model Group=thinker',
            'Available Model Group Fallbacks=["elsewhere"]',
            'Error doing the fallback: The object that this request refers to is stored at another provider than that of the model "elsewhere".',
          ].join('\n'),
          type: 'internal_server_error',
          param: null,
          code: '500',
        },
      },
    });
  });
});

describe('a model that has only the Responses API', () => {
  it('answers chat completions', async () => {
    answerWith({ ...ANSWER, model: 'up-4' });
    const chatRequest = { model: 'only', messages: [{ role: 'user', content: 'Hello' }] };
    const { status, body } = await ask(chatRequest, {}, '/v1/chat/completions');
    expect(upstream.received.at(-1)?.path).toBe('/v1/responses');
    expect(lastRequestBody()).toEqual({ model: 'up-4', input: [{ role: 'user', content: 'Hello' }], store: false });
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        id: 'resp_up',
        object: 'chat.completion',
        created: expect.any(Number),
        model: 'only',
        choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
        usage: {
          prompt_tokens: 5,
          completion_tokens: 3,
          total_tokens: 8,
          prompt_tokens_details: { cached_tokens: 2 },
          completion_tokens_details: { reasoning_tokens: 1 },
        },
      },
    });
  });

  it('reports a failed response, with and without a stream', async () => {
    const failed = { ...ANSWER, status: 'failed', error: { code: 'server_error', message: 'Out of thoughts.' } };
    const message = 'litellm.InternalServerError: InternalServerError: OpenAIException - Out of thoughts.';
    const error = { message, type: 'internal_server_error', param: null, code: 'server_error' };
    answerWith(failed);
    const chatRequest = { model: 'only', messages: [{ role: 'user', content: 'Hello' }] };
    expect(await ask(chatRequest, {}, '/v1/chat/completions')).toEqual({ status: 500, body: { error } });
    streamWith(
      event({ type: 'response.created', response: { id: 'r' } }) +
        event({ type: 'response.output_text.delta', delta: 'Well' }) +
        event({ type: 'response.failed', response: failed }),
    );
    const response = await app.call('POST', '/v1/chat/completions', { ...chatRequest, stream: true });
    const events = (await response.text()).trimEnd().split('\n\n');
    expect(events.at(-2)).toContain('"delta":{"content":"Well"}');
    expect(events.at(-1)).toBe(`data: ${JSON.stringify({ error: { ...error, type: null } })}`);
  });
});
