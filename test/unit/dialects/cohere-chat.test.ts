import { describe, expect, it } from 'vitest';
import { COHERE_NATIVE, COHERE_OUT } from '../../../src/wire/cohere-chat/native.ts';
import { sampleAnswersSuite, RICH_CHAT, writtenBy } from './sample-answers-suite.ts';

const toolsNamed = (...names: string[]) => names.map((name) => ({ type: 'function', function: { name } }));

const write = writtenBy(COHERE_OUT);
const event = (type: string, members: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
const content = (part: object): string => event('content-delta', { index: 0, delta: { message: { content: part } } });
const call = (type: string, index: number, tool_calls: object): string =>
  event(type, { index, delta: { message: { tool_calls } } });
const USAGE = {
  billed_units: { input_tokens: 5, output_tokens: 7 },
  tokens: { input_tokens: 71, output_tokens: 7 },
  cached_tokens: 3,
};
/** Billed tokens count, not all tokens that the model read. */
const COUNTED = {
  kind: 'usage',
  usage: { inputTokens: 5, outputTokens: 7, cacheReadTokens: 3, cacheWriteTokens: 0, reasoningTokens: 0 },
} as const;

sampleAnswersSuite('Cohere', COHERE_OUT, {
  'thoughts, text and citations': {
    whole: {
      id: 'c1',
      finish_reason: 'COMPLETE',
      message: {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Hm.' },
          { type: 'text', text: 'Größe 😀' },
        ],
        citations: [{ start: 0, end: 5, text: 'Größe', sources: [] }],
      },
      usage: USAGE,
    },
    stream:
      event('message-start', {
        id: 'c1',
        delta: { message: { role: 'assistant', content: [], tool_plan: '', tool_calls: [] } },
      }) +
      event('content-start', { index: 0, delta: { message: { content: { type: 'thinking', thinking: '' } } } }) +
      content({ thinking: 'Hm.' }) +
      event('content-end', { index: 0 }) +
      event('content-start', { index: 1, delta: { message: { content: { type: 'text', text: '' } } } }) +
      content({ text: 'Größe' }) +
      event('citation-start', { index: 0, delta: { message: { citations: { start: 0, end: 5, text: 'Größe' } } } }) +
      event('citation-end', { index: 0 }) +
      content({ text: ' 😀' }) +
      event('content-end', { index: 1 }) +
      event('message-end', { id: 'c1', delta: { finish_reason: 'COMPLETE', usage: USAGE } }) +
      'data: [DONE]\n\n',
    steps: [
      { kind: 'begin', id: 'c1', model: null },
      { kind: 'reasoning', text: 'Hm.' },
      { kind: 'text', text: 'Größe 😀' },
      { kind: 'finish', reason: 'stop' },
      COUNTED,
    ],
  },
  'a plan and two calls': {
    whole: {
      id: 'c2',
      finish_reason: 'TOOL_CALL',
      message: {
        role: 'assistant',
        tool_plan: 'I will look.',
        tool_calls: [
          { id: 'a', type: 'function', function: { name: 'look', arguments: '{"at":1}' } },
          { id: 'b', type: 'function', function: { name: 'stop', arguments: '{}' } },
        ],
      },
      usage: USAGE,
    },
    stream:
      event('message-start', { id: 'c2', delta: { message: { role: 'assistant' } } }) +
      event('tool-plan-delta', { delta: { message: { tool_plan: 'I will' } } }) +
      event('tool-plan-delta', { delta: { message: { tool_plan: ' look.' } } }) +
      call('tool-call-start', 0, { id: 'a', type: 'function', function: { name: 'look', arguments: '' } }) +
      call('tool-call-delta', 0, { function: { arguments: '{"at"' } }) +
      call('tool-call-delta', 0, { function: { arguments: ':1}' } }) +
      event('tool-call-end', { index: 0 }) +
      call('tool-call-start', 1, { id: 'b', type: 'function', function: { name: 'stop', arguments: '{}' } }) +
      event('tool-call-end', { index: 1 }) +
      event('message-end', { id: 'c2', delta: { finish_reason: 'TOOL_CALL', usage: USAGE } }),
    steps: [
      { kind: 'begin', id: 'c2', model: null },
      { kind: 'reasoning', text: 'I will look.' },
      { kind: 'toolCall', index: 0, id: 'a', name: 'look', arguments: '{"at":1}' },
      { kind: 'toolCall', index: 1, id: 'b', name: 'stop', arguments: '{}' },
      { kind: 'finish', reason: 'tool_calls' },
      COUNTED,
    ],
  },
});

describe('failures of Cohere', () => {
  it.each([
    [{ message: 'invalid api token' }, 'invalid api token', null, null],
    [{ type: 'message-end', delta: { finish_reason: 'ERROR', error: 'oh' } }, 'oh', 'ERROR', '500'],
    [{ finish_reason: 'TIMEOUT', message: {} }, 'The answer ended with TIMEOUT.', 'TIMEOUT', '504'],
  ])('are read: %j', (value, message, type, code) => {
    expect(COHERE_NATIVE.errorOf(value)).toEqual({ message, type, param: null, code });
  });

  it('are not read from an answer', () => {
    expect(COHERE_NATIVE.errorOf({ finish_reason: 'COMPLETE', message: {} })).toBeNull();
  });
});

/** Tool calls of `RICH_CHAT` as written: empty arguments become an empty object. */
const CALLS = [
  { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"at":1}' } },
  { id: 'call_2', type: 'function', function: { name: 'look', arguments: '{}' } },
];

describe('a chat in the format of Cohere', () => {
  it('has all members', () => {
    const { messages, tools } = RICH_CHAT as { messages: Record<string, unknown>[]; tools: unknown };
    expect(write({ ...RICH_CHAT, top_k: 3, seed: 7, stream: true })).toEqual({
      lost: [],
      body: {
        model: 'm',
        stream: true,
        messages: messages.map((message) =>
          message['role'] === 'assistant' ? { ...message, tool_calls: CALLS } : message,
        ),
        tools,
        max_tokens: 2000,
        temperature: 0,
        p: 0.5,
        k: 3,
        stop_sequences: ['END'],
        seed: 7,
      },
    });
  });

  it('has the tool choice', () => {
    const tools = toolsNamed('a', 'b');
    const toolChoiceOf = (tool_choice: unknown): unknown => {
      const { tools: offered, tool_choice: choice } = write({ tools, tool_choice }).body as Record<string, unknown[]>;
      return { offered: offered?.length, choice };
    };
    expect(toolChoiceOf('required')).toEqual({ offered: 2, choice: 'REQUIRED' });
    expect(toolChoiceOf('none')).toEqual({ offered: 2, choice: 'NONE' });
    // A tool that is required by its name is the only offered tool.
    expect(toolChoiceOf({ type: 'function', function: { name: 'b' } })).toEqual({ offered: 1, choice: 'REQUIRED' });
  });

  it('has the plan of earlier calls, a response format, and reasoning', () => {
    const calls = [{ id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } }];
    const { body, lost } = write({
      messages: [{ role: 'assistant', content: null, reasoning_content: 'Plan.', tool_calls: calls }],
      response_format: { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'object' } } },
      reasoning_effort: 'low',
    });
    expect(lost).toEqual([]);
    expect(body).toEqual({
      model: 'm',
      stream: false,
      messages: [{ role: 'assistant', tool_plan: 'Plan.', tool_calls: calls }],
      response_format: { type: 'json_object', json_schema: { type: 'object' } },
      thinking: { type: 'enabled', token_budget: 1024 },
    });
    expect(write({ reasoning_effort: 'none' }).body).toMatchObject({ thinking: { type: 'disabled' } });
  });

  it.each([
    ['parallel_tool_calls', { parallel_tool_calls: false, tools: toolsNamed('a', 'b') }, 'essential'],
    ['parallel_tool_calls', { parallel_tool_calls: false, tools: toolsNamed('a') }, 'hint'],
    ['user', { user: 'u' }, 'hint'],
    [
      'messages[0].content[0]',
      { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'f' } }] }] },
      'essential',
    ],
    ['messages[0].reasoning', { messages: [{ role: 'assistant', content: 'a', reasoning_content: 'b' }] }, 'hint'],
  ])('names unsupported members: %s', (member, body, weight) => {
    expect(write(body).lost).toEqual([{ member, weight }]);
  });
});
