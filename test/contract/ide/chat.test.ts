import { describe, expect, it } from 'vitest';
import { newTrace, spansIn } from '../inference/trace-spans.ts';
import {
  servers,
  PATH,
  INPUT,
  MESSAGE,
  FUNCTION_CALL,
  CUSTOM_CALL,
  RESPONSE,
  answerWith,
  type Event,
  streamWith,
  newKey,
  ask,
  askStreamed,
  lastUpstreamBody,
  completionAnswer,
  startServersForFile,
} from './ide-client.ts';

startServersForFile();

describe('ide.chat 200', () => {
  it.each([PATH, '/cursor/chat/completions'])('input is sent as one call of the Responses API, on %s', async (path) => {
    answerWith(200, RESPONSE);
    const earlierRequests = servers.upstream.received.length;
    const { traceId, headers } = newTrace();
    const tools = [
      { type: 'function', name: 'look', parameters: {} },
      { type: 'custom', name: 'patch' },
    ];
    const chatBody = { model: 'gpt', input: INPUT, messages: [], tools, stream_options: { include_usage: true } };
    expect(await ask(chatBody, headers, path)).toEqual(completionAnswer({}));
    expect(servers.upstream.received.slice(earlierRequests).map((request) => request.path)).toEqual(['/v1/responses']);
    expect(lastUpstreamBody()).toEqual({ model: 'up-1', input: INPUT, tools });
    expect(await spansIn(servers.app, traceId)).toMatchObject([
      { spendRow: { callType: 'aresponses', modelGroup: 'gpt', costUsd: '1.25', status: 'SUCCESS' } },
    ]);
  });

  it.each([
    ['gpt-thinking-high', { model: 'up-1', input: INPUT, reasoning: { effort: 'high' } }],
    ['gpt-fast', { model: 'up-1', input: INPUT }],
    ['gpt-thinking-xhigh-fast', { model: 'up-1', input: INPUT, reasoning: { effort: 'xhigh' } }],
  ])(
    'the name %s is resolved to the model gpt and the reasoning effort that its suffix names, if any',
    async (model, expected) => {
      answerWith(200, RESPONSE);
      expect(await ask({ model, input: INPUT })).toEqual(completionAnswer({}));
      expect(lastUpstreamBody()).toEqual(expected);
    },
  );

  it.each(['gpt-thinking-low', 'gpt-thinking-low-fast'])(
    'a configured model name is called as it is, even if it ends with a suffix: %s',
    async (model) => {
      answerWith(200, RESPONSE);
      await ask({ model, input: INPUT });
      expect(lastUpstreamBody()).toEqual({ model: 'up-2', input: INPUT });
    },
  );

  it('a key for the resolved model may use any suffix', async () => {
    answerWith(200, RESPONSE);
    const key = await newKey({ models: ['gpt'] });
    expect((await ask({ model: 'gpt-thinking-high-fast', input: INPUT }, key)).status).toBe(200);
  });

  it('reasoning, text and tool calls are members of one choice', async () => {
    const reasoning = { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }], encrypted_content: 'x' };
    answerWith(200, {
      ...RESPONSE,
      output: [reasoning, MESSAGE, FUNCTION_CALL, CUSTOM_CALL],
      usage: {
        ...RESPONSE.usage,
        input_tokens_details: { cached_tokens: 1 },
        output_tokens_details: { reasoning_tokens: 1 },
      },
    });
    expect(await ask({ model: 'gpt', input: INPUT })).toEqual(
      completionAnswer(
        {
          reasoning_content: 'Hm.',
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'look', arguments: '{"at":1}' } },
            { id: 'c2', type: 'function', function: { name: 'patch', arguments: '*** Begin\n' } },
          ],
        },
        'tool_calls',
        { prompt_tokens_details: { cached_tokens: 1 }, completion_tokens_details: { reasoning_tokens: 1 } },
      ),
    );
    // Without a text, the content is null.
    answerWith(200, { ...RESPONSE, output: [FUNCTION_CALL] });
    const { body } = await ask({ model: 'gpt', input: INPUT });
    expect(body).toMatchObject({ choices: [{ message: { content: null }, finish_reason: 'tool_calls' }] });
    // The upstream reached the limit of output tokens.
    answerWith(200, { ...RESPONSE, status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } });
    expect(await ask({ model: 'gpt', input: INPUT })).toEqual(completionAnswer({}, 'length'));
  });

  const created: Event = { type: 'response.created', response: { ...RESPONSE, output: [] } };
  const completed: Event = { type: 'response.completed', response: RESPONSE };

  it('a streamed short text is two chunks, without members of the Responses API', async () => {
    streamWith(
      created,
      { type: 'response.in_progress', response: RESPONSE },
      { type: 'response.output_item.added', output_index: 0, item: MESSAGE },
      { type: 'response.output_text.delta', output_index: 0, delta: 'Hi' },
      { type: 'response.output_text.done', output_index: 0, text: 'Hi' },
      { type: 'response.something_new', response: null },
      completed,
    );
    const { traceId, headers } = newTrace();
    const { chunks, text } = await askStreamed({ model: 'gpt', input: INPUT });
    expect(chunks).toEqual([
      { choices: [{ index: 0, delta: { role: 'assistant', content: 'Hi' }, finish_reason: null }] },
      { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
      '[DONE]',
    ]);
    expect(text).not.toMatch(/response\.|event:/);
    const chatBody = { model: 'gpt', input: INPUT, stream: true };
    await (await servers.app.call('POST', PATH, chatBody, headers)).text();
    expect(lastUpstreamBody()).toEqual({ ...chatBody, model: 'up-1' });
    expect(await spansIn(servers.app, traceId)).toMatchObject([{ spendRow: { costUsd: '1.25', status: 'SUCCESS' } }]);
  });

  it('reasoning and tool calls are streamed in deltas, with usage on request', async () => {
    streamWith(
      created,
      { type: 'response.reasoning_summary_text.delta', output_index: 0, delta: 'Hm' },
      { type: 'response.output_item.done', output_index: 0, item: { type: 'reasoning', encrypted_content: 'secret' } },
      { type: 'response.output_item.added', output_index: 1, item: { ...FUNCTION_CALL, arguments: '' } },
      { type: 'response.function_call_arguments.delta', output_index: 1, delta: '{"at"' },
      { type: 'response.function_call_arguments.delta', output_index: 1, delta: ':1}' },
      { type: 'response.output_item.done', output_index: 1, item: FUNCTION_CALL },
      { type: 'response.output_item.added', output_index: 2, item: { ...CUSTOM_CALL, input: '' } },
      { type: 'response.custom_tool_call_input.delta', output_index: 2, delta: '*** Begin\n' },
      { type: 'response.output_item.done', output_index: 2, item: CUSTOM_CALL },
      completed,
    );
    const { chunks, text } = await askStreamed({ model: 'gpt', input: INPUT, stream_options: { include_usage: true } });
    const delta = (change: object, reason: string | null = null) => ({
      choices: [{ index: 0, delta: change, finish_reason: reason }],
    });
    const toolCallStart = (index: number, id: string, name: string) =>
      delta({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] });
    const argumentsPart = (index: number, argumentsText: string) =>
      delta({ tool_calls: [{ index, function: { arguments: argumentsText } }] });
    expect(chunks).toEqual([
      delta({ role: 'assistant', reasoning_content: 'Hm' }),
      toolCallStart(0, 'c1', 'look'),
      argumentsPart(0, '{"at"'),
      argumentsPart(0, ':1}'),
      toolCallStart(1, 'c2', 'patch'),
      argumentsPart(1, '*** Begin\n'),
      delta({}, 'tool_calls'),
      {
        choices: [],
        usage: {
          prompt_tokens: 2,
          completion_tokens: 1,
          total_tokens: 3,
          prompt_tokens_details: { cached_tokens: 0 },
          completion_tokens_details: { reasoning_tokens: 0 },
        },
      },
      '[DONE]',
    ]);
    expect(text).not.toContain('secret');
  });

  it.each([
    [{ type: 'response.failed', response: { status: 'failed', error: { code: 'server_error', message: 'Out.' } } }],
    [{ type: 'error', code: 'server_error', message: 'Out.', param: null }],
  ])('a failure during the stream is the last event: %j', async (failure: Event) => {
    streamWith(created, { type: 'response.output_text.delta', output_index: 0, delta: 'Hi' }, failure);
    const { chunks } = await askStreamed({ model: 'gpt', input: INPUT });
    expect(chunks.at(-1)).toEqual({
      error: {
        message: expect.stringMatching(/Exception - Out\.$/),
        type: null,
        param: null,
        code: 'server_error',
      },
    });
  });

  it('messages are sent as one chat completion, with tools in the format of chat completions', async () => {
    answerWith(200, {
      id: 'c',
      object: 'chat.completion',
      model: 'up-1',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
    });
    const messages = [{ role: 'user', content: 'Hello' }];
    const { body } = await ask({
      model: 'gpt-thinking-high',
      messages,
      tools: [
        { type: 'function', name: 'look', parameters: {}, strict: true },
        { type: 'function', function: { name: 'see' } },
        { type: 'custom', name: 'patch' },
      ],
      tool_choice: { type: 'function', name: 'look' },
    });
    expect(body).toMatchObject({ object: 'chat.completion', model: 'gpt', choices: [{ message: { content: 'Hi' } }] });
    expect(servers.upstream.received.at(-1)?.path).toBe('/v1/chat/completions');
    expect(lastUpstreamBody()).toEqual({
      model: 'up-1',
      messages,
      reasoning_effort: 'high',
      tools: [
        { type: 'function', function: { name: 'look', parameters: {}, strict: true } },
        { type: 'function', function: { name: 'see' } },
        { type: 'custom', custom: { name: 'patch' } },
      ],
      tool_choice: { type: 'function', function: { name: 'look' } },
    });
  });

  it('a model without a Responses API is called with chat completions', async () => {
    servers.upstream.answer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const chunk = (delta: object, reason: string | null) =>
        `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`;
      response.end(`${chunk({ role: 'assistant', content: 'Hi' }, null)}${chunk({}, 'stop')}data: [DONE]\n\n`);
    });
    const response = await servers.app.call('POST', PATH, { model: 'chats', input: INPUT, stream: true });
    const events = (await response.text()).trimEnd().split('\n\n');
    expect(servers.upstream.received.at(-1)?.path).toBe('/v1/chat/completions');
    expect(events.map((event) => /"delta":(\{[^}]*\})/.exec(event)?.[1] ?? event)).toEqual([
      '{"role":"assistant","content":"Hi"}',
      '{}',
      'data: [DONE]',
    ]);
  });
});
