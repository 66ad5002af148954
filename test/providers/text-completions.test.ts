import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  CHAT_COMPLETIONS,
  COMPLETIONS,
  type Endpoint,
  MESSAGES,
  RESPONSES,
} from '../../src/domain/inference/endpoint.ts';
import { aModelRequest } from '../support/chat.ts';
import { jsonOf, startVendorServer, textOf, type VendorServer } from '../support/vendor-server.ts';

let server: VendorServer;

beforeAll(async () => {
  server = await startVendorServer();
});

afterAll(() => server.stop());

const HEAD = { id: 'cmpl-1', object: 'text_completion', created: 1, model: 'up-1' };
const USAGE = { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 };
const COUNTED = { inputTokens: 5, outputTokens: 7, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
const choice = (text: string, finish_reason: string | null) => ({ text, index: 0, logprobs: null, finish_reason });
const WHOLE = { ...HEAD, choices: [choice('Hi there', 'stop')], usage: USAGE };
const STREAM = [
  { ...HEAD, choices: [choice('Hi', null)] },
  { ...HEAD, choices: [choice(' there', 'stop')] },
  { ...HEAD, choices: [], usage: USAGE },
].map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`);

/** Callers of three dialects: name, endpoint, request, and expected members of the answer. */
const CALLERS: readonly (readonly [string, Endpoint, object, object])[] = [
  [
    'chat completions',
    CHAT_COMPLETIONS,
    { messages: [{ role: 'user', content: 'Say hi' }] },
    {
      object: 'chat.completion',
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hi there' }, finish_reason: 'stop' }],
      usage: USAGE,
    },
  ],
  [
    'messages',
    MESSAGES,
    { messages: [{ role: 'user', content: 'Say hi' }], max_tokens: 9 },
    {
      type: 'message',
      content: [{ type: 'text', text: 'Hi there' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 5, output_tokens: 7 },
    },
  ],
  [
    'responses',
    RESPONSES,
    { input: 'Say hi' },
    { object: 'response', status: 'completed', usage: { input_tokens: 5, output_tokens: 7, total_tokens: 12 } },
  ],
];

const deploymentWith = (more: object = {}) => server.deploymentOf('text-completion-openai', more);
const requestTo = (endpoint: Endpoint, body: object, stream = false) =>
  aModelRequest({ model: 'm', ...body, ...(stream ? { stream } : {}) }, { endpoint, stream, includeUsage: stream });

describe('a completion model', () => {
  it.each(CALLERS)('answers callers of %s', async (_name, endpoint, body, answer) => {
    server.answerWith(WHOLE);
    const exchange = await server.send(deploymentWith(), requestTo(endpoint, body));
    expect(await jsonOf(exchange)).toMatchObject(answer);
    expect(exchange.outcome()).toMatchObject({ usage: COUNTED, finishReason: 'stop' });
    const { path, body: receivedBody } = server.lastReceived();
    expect([path, JSON.parse(receivedBody)]).toEqual([
      '/completions',
      { model: 'up-1', prompt: 'Say hi', ...(endpoint === MESSAGES ? { max_tokens: 9 } : {}) },
    ]);
  });

  it.each(CALLERS)('streams to callers of %s', async (_name, endpoint, body) => {
    server.answerWith(`${STREAM.join('')}data: [DONE]\n\n`, 200, 'text/event-stream');
    const exchange = await server.send(deploymentWith(), requestTo(endpoint, body, true));
    const text = await textOf(exchange);
    expect([text.includes('"Hi"'), text.includes('" there"')]).toEqual([true, true]);
    expect(JSON.parse(server.lastReceived().body)).toMatchObject({ stream_options: { include_usage: true } });
    expect(exchange.outcome()).toMatchObject({ usage: COUNTED, finishReason: 'stop' });
  });

  it('forwards completions unchanged except for the model name', async () => {
    server.answerWith(WHOLE);
    const exchange = await server.send(deploymentWith(), requestTo(COMPLETIONS, { prompt: ['a', 'b'], best_of: 2 }));
    expect(await jsonOf(exchange)).toEqual({ ...WHOLE, model: 'm' });
    expect(JSON.parse(server.lastReceived().body)).toEqual({ model: 'up-1', prompt: ['a', 'b'], best_of: 2 });
  });

  it('uses the output limit of its deployment', async () => {
    server.answerWith(WHOLE);
    await server.send(
      deploymentWith({ options: { max_tokens: '300' } }),
      requestTo(CHAT_COMPLETIONS, CALLERS[0]?.[2] ?? {}),
    );
    expect(JSON.parse(server.lastReceived().body)).toMatchObject({ max_tokens: 300 });
  });

  it('refuses unsupported fields, or drops them where that is allowed', async () => {
    const callsBefore = server.faults.received.length;
    const tools = [{ type: 'function', function: { name: 'a', parameters: {} } }];
    const body = { messages: [{ role: 'user', content: 'Say hi' }], tools };
    await expect(server.send(deploymentWith(), requestTo(CHAT_COMPLETIONS, body))).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message:
        '/chat/completions: The provider of the model "m" (text-completion-openai) does not support \'tools\'. Remove it from the request, or set drop_params to drop it.',
    });
    expect(server.faults.received.length).toBe(callsBefore);
    server.answerWith(WHOLE);
    const exchange = await server.send(deploymentWith({ dropParams: true }), requestTo(CHAT_COMPLETIONS, body));
    expect(exchange.dropped).toEqual(['tools']);
  });
});
