import { describe, expect, it } from 'vitest';
import { OLLAMA_NATIVE, OLLAMA_OUT } from '../../../src/wire/ollama-chat/native.ts';
import { sampleAnswersSuite, RICH_CHAT, writtenBy } from './sample-answers-suite.ts';

const toolsNamed = (...names: string[]) => names.map((name) => ({ type: 'function', function: { name } }));

const write = writtenBy(OLLAMA_OUT);
const HEAD = { model: 'llama3.2', created_at: '2026-11-21T12:00:00Z' };
const END = { done: true, done_reason: 'stop', total_duration: 9, prompt_eval_count: 5, eval_count: 7 };
const line = (message: object, members: object = { done: false }): string =>
  `data: ${JSON.stringify({ ...HEAD, message: { role: 'assistant', ...message }, ...members })}\n\n`;
const BEGIN = { kind: 'begin', id: null, model: 'llama3.2' } as const;
const COUNTED = {
  kind: 'usage',
  usage: { inputTokens: 5, outputTokens: 7, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
} as const;
const CALLS = [
  { id: 'a', function: { name: 'look', arguments: { at: 1 } } },
  { id: 'b', function: { name: 'stop', arguments: {} } },
];

sampleAnswersSuite('Ollama', OLLAMA_OUT, {
  'reasoning and text': {
    whole: { ...HEAD, message: { role: 'assistant', content: 'Größe 😀', thinking: 'Hm.' }, ...END },
    stream:
      line({ content: '', thinking: 'Hm.' }) +
      line({ content: 'Größe' }) +
      line({ content: ' 😀' }) +
      line({ content: '' }, END),
    steps: [
      BEGIN,
      { kind: 'reasoning', text: 'Hm.' },
      { kind: 'text', text: 'Größe 😀' },
      { kind: 'finish', reason: 'stop' },
      COUNTED,
    ],
  },
  'two calls': {
    whole: { ...HEAD, message: { role: 'assistant', content: '', tool_calls: CALLS }, ...END },
    stream:
      line({ content: '', tool_calls: CALLS.slice(0, 1) }) +
      line({ content: '', tool_calls: CALLS.slice(1) }) +
      line({ content: '' }, END),
    steps: [
      BEGIN,
      { kind: 'toolCall', index: 0, id: 'a', name: 'look', arguments: '{"at":1}' },
      { kind: 'toolCall', index: 1, id: 'b', name: 'stop', arguments: '{}' },
      { kind: 'finish', reason: 'tool_calls' },
      COUNTED,
    ],
  },
  'an answer that was cut short': {
    whole: { ...HEAD, message: { role: 'assistant', content: 'To be' }, ...END, done_reason: 'length' },
    stream: line({ content: 'To be' }) + line({ content: '' }, { ...END, done_reason: 'length' }),
    steps: [BEGIN, { kind: 'text', text: 'To be' }, { kind: 'finish', reason: 'length' }, COUNTED],
  },
});

describe('the dialect of Ollama', () => {
  it('reads the message of an error, and null from an answer without an error', () => {
    expect(OLLAMA_NATIVE.errorOf({ error: 'model not found' })).toEqual({
      message: 'model not found',
      type: null,
      param: null,
      code: null,
    });
    expect(OLLAMA_NATIVE.errorOf({ message: {} })).toBeNull();
  });

  it('generates ids for calls without an id', () => {
    const steps = OLLAMA_OUT.stepsOf({
      message: { tool_calls: [{ function: { name: 'a', arguments: {} } }] },
      done: true,
    });
    expect(steps).toContainEqual({
      kind: 'toolCall',
      index: 0,
      id: expect.stringMatching(/^call_[0-9a-f-]{36}$/),
      name: 'a',
      arguments: '{}',
    });
  });
});

describe('a chat in the format of Ollama', () => {
  it('has all members', () => {
    const { tools } = RICH_CHAT as { tools: unknown };
    expect(write({ ...RICH_CHAT, top_k: 3, seed: 7, stream: true })).toEqual({
      lost: [],
      body: {
        model: 'm',
        stream: true,
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'What is this?', images: ['aGk='] },
          {
            role: 'assistant',
            content: 'Looking.',
            tool_calls: [
              { function: { name: 'look', arguments: { at: 1 } } },
              { function: { name: 'look', arguments: {} } },
            ],
          },
          { role: 'tool', tool_name: 'look', content: 'a cat' },
          { role: 'tool', tool_name: 'look', content: 'a dog' },
          { role: 'user', content: 'And?' },
        ],
        tools,
        options: { num_predict: 2000, temperature: 0, top_p: 0.5, top_k: 3, stop: ['END'], seed: 7 },
      },
    });
  });

  it('has the response format, reasoning, and earlier thinking', () => {
    const schema = { type: 'object' };
    expect(write({ response_format: { type: 'json_object' } }).body).toMatchObject({ format: 'json' });
    expect(write({ response_format: { type: 'json_schema', json_schema: { schema } } }).body).toMatchObject({
      format: schema,
    });
    expect(write({ reasoning_effort: 'high' }).body).toMatchObject({ think: 'high' });
    expect(write({ reasoning_effort: 'xhigh' }).body).toMatchObject({ think: true });
    expect(write({ reasoning_effort: 'none' }).body).toMatchObject({ think: false });
    expect(write({ messages: [{ role: 'assistant', content: 'a', reasoning_content: 'b' }] }).body).toMatchObject({
      messages: [{ role: 'assistant', content: 'a', thinking: 'b' }],
    });
  });

  it('has no tools for the tool choice `none`', () => {
    const tools = [{ type: 'function', function: { name: 'a' } }];
    expect(write({ tools, tool_choice: 'none' })).toEqual({
      lost: [],
      body: { model: 'm', stream: false, messages: [] },
    });
  });

  it.each([
    ['parallel_tool_calls', { parallel_tool_calls: false, tools: toolsNamed('a', 'b') }, 'essential'],
    ['parallel_tool_calls', { parallel_tool_calls: false, tools: toolsNamed('a') }, 'hint'],
    ['tool_choice', { tool_choice: 'required' }, 'essential'],
    ['user', { user: 'u' }, 'hint'],
    [
      'messages[0].content[0]',
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://a/b.png' } }] }] },
      'essential',
    ],
  ])('names unsupported members: %s', (member, body, weight) => {
    expect(write(body).lost).toEqual([{ member, weight }]);
  });
});
