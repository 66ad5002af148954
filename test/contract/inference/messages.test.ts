import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newTrace, spansIn } from './trace-spans.ts';
import {
  ANSWER,
  REQUEST,
  COST,
  CREDENTIAL,
  event,
  type MessagesServer,
  startMessagesServer,
  PATHS,
} from './messages-server.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Usage of the answer. Input tokens include those that are read from the cache or written to it. */
const USAGE = { inputTokens: 7, outputTokens: 1, cacheReadTokens: 4, cacheWriteTokens: 1, reasoningTokens: 0 };

let server: MessagesServer;
beforeAll(async () => {
  server = await startMessagesServer();
});
afterAll(() => server.stop());

describe('messages.create 200', () => {
  it.each(PATHS)('the answer of the upstream has the requested model name, on %s', async (path) => {
    server.answerWith(200, ANSWER, { 'request-id': 'req_1' });
    const { status, body, headers } = await server.ask(REQUEST, {}, path);
    expect({ status, body }).toEqual({ status: 200, body: { ...ANSWER, model: 'claude' } });
    expect(headers['x-litellm-call-id']).toMatch(UUID);
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'x-litellm-model-id': expect.stringMatching(/^claude#[0-9a-f]{12}$/),
      'x-litellm-model-group': 'claude',
      'x-litellm-response-cost': COST,
      'llm_provider-request-id': 'req_1',
    });
    const forwarded = server.lastUpstreamRequest();
    expect(forwarded.path).toBe('/v1/messages');
    expect(forwarded.headers).toMatchObject({ 'x-api-key': CREDENTIAL, 'anthropic-version': '2023-06-01' });
    expect(forwarded.headers['authorization']).toBeUndefined();
    expect(forwarded.body).toEqual({ ...REQUEST, model: 'claude-up-1' });
  });

  it('the version and betas of the caller are forwarded, and the key of the caller is not', async () => {
    server.answerWith(200, ANSWER);
    const callerHeaders = { 'anthropic-version': '2024-01-01', 'anthropic-beta': 'a-2025-01-01,b-2025-01-01' };
    await server.ask(
      REQUEST,
      { ...callerHeaders, 'x-api-key': server.app.adminKey, authorization: '' },
      '/v1/messages?beta=true',
    );
    expect(server.lastUpstreamRequest().headers).toMatchObject({ ...callerHeaders, 'x-api-key': CREDENTIAL });
    expect(JSON.stringify(server.lastUpstreamRequest().headers)).not.toContain(server.app.adminKey);
  });

  it('unknown fields are forwarded, and gateway fields are not', async () => {
    server.answerWith(200, ANSWER);
    const otherFields = { metadata: { user_id: 'u' }, system: [{ type: 'text', text: 'x' }], later: 1e-7 };
    await server.ask({ ...REQUEST, ...otherFields, tags: ['t'], litellm_metadata: { a: 1 }, num_retries: 3 });
    expect(server.lastUpstreamRequest().body).toEqual({ ...REQUEST, ...otherFields, model: 'claude-up-1' });
  });

  const START = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-up-1', content: [] };
  const EVENTS = [
    event('message_start', { message: { ...START, usage: { input_tokens: 2, output_tokens: 1 } } }),
    event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    event('ping'),
    event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'Zoë 😀' } }),
    event('content_block_stop', { index: 0 }),
    event('message_delta', {
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { cache_read_input_tokens: 4, output_tokens: 5 },
    }),
    event('message_stop'),
  ];

  it('a stream is forwarded byte for byte, except for the model name', async () => {
    server.streamWith(...EVENTS);
    const { traceId, headers } = newTrace();
    const response = await server.app.call('POST', PATHS[0], { ...REQUEST, stream: true }, headers);
    expect(await response.text()).toBe(EVENTS.join('').replace('claude-up-1', 'claude'));
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(await spansIn(server.app, traceId)).toMatchObject([
      {
        name: 'chat claude',
        type: 'llm',
        attributes: { 'gen_ai.provider.name': 'anthropic', 'gen_ai.response.id': 'msg_1' },
        spendRow: {
          callType: 'anthropic_messages',
          modelGroup: 'claude',
          model: 'claude-up-1',
          // 2 input tokens at 0.5, 4 cached tokens at 0.0625, 5 output tokens at 0.25.
          costUsd: '2.5',
          status: 'SUCCESS',
          usage: { inputTokens: 6, outputTokens: 5, cacheReadTokens: 4, cacheWriteTokens: 0, reasoningTokens: 0 },
        },
      },
    ]);
  });

  it('a stream with an upstream error ends with an error event', async () => {
    const error = { type: 'overloaded_error', message: 'Overloaded' };
    server.streamWith(...EVENTS.slice(0, 4), event('error', { error }));
    const response = await server.app.call('POST', PATHS[0], { ...REQUEST, stream: true });
    const kind = 'InternalServerError';
    const message = `litellm.${kind}: ${kind}: AnthropicException - Overloaded`;
    expect(response.status).toBe(200);
    expect(await response.text()).toBe(
      `${EVENTS.slice(0, 4).join('').replace('claude-up-1', 'claude')}${event('error', { error: { type: 'overloaded_error', message } })}`,
    );
  });

  it('a stream that the upstream closes early ends with an error event', async () => {
    server.streamWith(...EVENTS.slice(0, 4));
    const response = await server.app.call('POST', PATHS[0], { ...REQUEST, stream: true });
    const message =
      "litellm.APIError: APIError: AnthropicException - The upstream's answer cannot be used: the stream ended before the answer did.";
    expect((await response.text()).split('\n\n').at(-2)).toBe(
      event('error', { error: { type: 'api_error', message } }).trimEnd(),
    );
  });

  it('a call has one span and one spend row', async () => {
    server.answerWith(200, ANSWER);
    const { traceId, headers } = newTrace();
    await server.ask(REQUEST, headers);
    expect(await spansIn(server.app, traceId)).toMatchObject([
      { name: 'chat claude', spendRow: { callType: 'anthropic_messages', costUsd: COST, usage: USAGE } },
    ]);
  });

  it('a header lists only the first 50 dropped fields', async () => {
    server.answerWith(200, {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      model: 'up-1',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
    });
    const content = [{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } }];
    const messages = Array.from({ length: 1_000 }, () => ({ role: 'user', content }));
    const { status, headers } = await server.ask({ ...REQUEST, model: 'other', messages });
    expect(status).toBe(200);
    expect(headers['x-gateway-dropped-params']?.split(', ')).toEqual(
      messages.slice(0, 50).map((_message, index) => `messages[${index}].content[0].cache_control`),
    );
  });

  it('an answer has no header of dropped fields when each of their names is too long for the header', async () => {
    server.answerWith(200, {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      model: 'up-1',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
    });
    const { status, headers } = await server.ask({
      ...REQUEST,
      model: 'other',
      drop_params: true,
      ['x'.repeat(101)]: 1,
    });
    expect([status, headers['x-gateway-dropped-params']]).toEqual([200, undefined]);
  });

  it('a model of another provider answers in the format of Anthropic, and a header lists the dropped fields', async () => {
    server.answerWith(200, {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      model: 'up-1',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'length' }],
      usage: { prompt_tokens: 6, completion_tokens: 1, total_tokens: 7, prompt_tokens_details: { cached_tokens: 4 } },
    });
    const system = [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }];
    const { status, body, headers } = await server.ask({ ...REQUEST, model: 'other', system });
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        id: 'chatcmpl-1',
        type: 'message',
        role: 'assistant',
        model: 'other',
        content: [{ type: 'text', text: 'Hi' }],
        stop_reason: 'max_tokens',
        stop_sequence: null,
        usage: { input_tokens: 2, cache_creation_input_tokens: 0, cache_read_input_tokens: 4, output_tokens: 1 },
      },
    });
    // The system text is the first message of the upstream request.
    expect(headers['x-gateway-dropped-params']).toBe('messages[0].cache_control');
    expect(server.lastUpstreamRequest()).toMatchObject({
      path: '/v1/chat/completions',
      body: {
        model: 'up-1',
        max_tokens: 10,
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'Hello' },
        ],
      },
    });
  });

  it('an Anthropic model answers chat completions, streamed and not, and completions', async () => {
    server.answerWith(200, ANSWER);
    const messages = [{ role: 'user', content: 'Hello' }];
    const chat = await server.ask({ model: 'claude', messages }, {}, '/v1/chat/completions');
    expect(chat).toMatchObject({
      status: 200,
      body: {
        id: 'msg_1',
        object: 'chat.completion',
        model: 'claude',
        choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
        usage: {
          prompt_tokens: 7,
          completion_tokens: 1,
          prompt_tokens_details: { cached_tokens: 4 },
          cache_creation_input_tokens: 1,
        },
      },
      headers: { 'x-litellm-response-cost': COST },
    });
    expect(server.lastUpstreamRequest()).toMatchObject({
      path: '/v1/messages',
      headers: { 'anthropic-version': '2023-06-01' },
      body: {
        model: 'claude-up-1',
        // The limit of the deployment, because the request has none.
        max_tokens: 99,
        messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
      },
    });
    const text = await server.ask({ model: 'claude', prompt: 'Hello' }, {}, '/v1/completions');
    expect(text.body).toMatchObject({ object: 'text_completion', choices: [{ text: 'Hi', finish_reason: 'stop' }] });
    server.streamWith(...EVENTS);
    const stream = await server.app.call('POST', '/v1/chat/completions', { model: 'claude', messages, stream: true });
    const chunks = (await stream.text()).split('\n\n').filter((chunk) => chunk !== '');
    expect(chunks.at(-1)).toBe('data: [DONE]');
    expect(chunks.slice(0, -1).map((chunk) => JSON.parse(chunk.slice('data: '.length)).choices[0])).toEqual([
      { index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null },
      { index: 0, delta: { content: 'Zoë 😀' }, finish_reason: null },
      { index: 0, delta: {}, finish_reason: 'stop' },
    ]);
  });
});
