import { describe, expect, it } from 'vitest';
import { Losses } from '../../../src/domain/chat/neutral-chat.ts';
import { CHAT_COMPLETIONS_IN } from '../../../src/wire/chat-completions/native.ts';
import { messagesOut } from '../../../src/wire/messages/native.ts';

const OUT = messagesOut({ maxTokens: 4096 });
/** A model that takes an effort in place of a thinking budget, and a schema of its answer. */
const NEWER = 'claude-opus-4-8';

interface Written {
  readonly body: Record<string, unknown>;
  readonly lost: readonly object[];
}

/** A request of chat completions written for messages, and the members that are not supported. */
function fromChat(chatBody: object): Written {
  const losses = new Losses();
  const body = { model: NEWER, messages: [{ role: 'user', content: 'Hello' }], ...chatBody };
  const written = OUT.writeRequest(CHAT_COMPLETIONS_IN.readRequest(body, losses), losses);
  return { body: { ...written }, lost: losses.all() };
}

describe('a request of chat completions, written for messages', () => {
  it('has system messages first, and alternating turns that begin with the user', () => {
    const { body, lost } = fromChat({
      messages: [
        { role: 'developer', content: 'Be brief.' },
        { role: 'assistant', content: 'Welcome.' },
        { role: 'user', content: 'One' },
        // Anthropic rejects blank text, so this message is left out.
        { role: 'user', content: ' ' },
        { role: 'user', content: 'Two' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'call.1', function: { name: 'look', arguments: '{"at":1}' } }],
        },
        { role: 'tool', tool_call_id: 'call.1', content: 'a cat' },
        { role: 'user', content: 'And?' },
        { role: 'system', content: 'Be kind.' },
      ],
    });
    expect(body).toEqual({
      model: NEWER,
      max_tokens: 4096,
      system: [
        { type: 'text', text: 'Be brief.' },
        { type: 'text', text: 'Be kind.' },
      ],
      messages: [
        // A placeholder, because the chat begins with the assistant.
        { role: 'user', content: [{ type: 'text', text: '.' }] },
        { role: 'assistant', content: [{ type: 'text', text: 'Welcome.' }] },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'One' },
            { type: 'text', text: 'Two' },
          ],
        },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', name: 'look', input: { at: 1 } }] },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'call_1', content: [{ type: 'text', text: 'a cat' }] },
            { type: 'text', text: 'And?' },
          ],
        },
      ],
    });
    // The last system message loses its position.
    expect(lost).toEqual([{ member: 'messages[8].role', weight: 'hint' }]);
  });

  it.each([
    ['tool_choice', 'required', { tool_choice: { type: 'any' } }],
    ['tool_choice', 'any', { tool_choice: { type: 'any' } }],
    ['tool_choice', 'none', { tool_choice: { type: 'none' } }],
    ['parallel_tool_calls', false, { tool_choice: { type: 'auto', disable_parallel_tool_use: true } }],
    ['parallel_tool_calls', true, {}],
    ['max_completion_tokens', 7, { max_tokens: 7 }],
    ['stop', 'END', { stop_sequences: ['END'] }],
    ['user', 'u', { metadata: { user_id: 'u' } }],
    ['frequency_penalty', 0, {}],
  ])('has the equivalent of %s %j', (member, value, expected) => {
    const tools = [{ type: 'function', function: { name: 'look' } }];
    const { body, lost } = fromChat({ tools, [member]: value });
    expect({ body, lost }).toEqual({
      body: {
        model: NEWER,
        max_tokens: 4096,
        messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
        tools: [{ name: 'look', input_schema: { type: 'object', properties: {} } }],
        ...expected,
      },
      lost: [],
    });
  });

  it.each([
    [{ seed: 7 }, 'seed', 'hint'],
    [{ frequency_penalty: 1 }, 'frequency_penalty', 'essential'],
    [{ presence_penalty: 1 }, 'presence_penalty', 'essential'],
    // Anthropic rejects blank stop sequences.
    [{ stop: ['\n\n'] }, 'stop', 'essential'],
    [{ response_format: { type: 'json_object' } }, 'response_format', 'hint'],
    [
      { messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'aGk=' } }] }] },
      'messages[0].content[0]',
      'essential',
    ],
    [
      { messages: [{ role: 'user', content: [{ type: 'file', file: { file_data: 'data:image/tiff;base64,aGk=' } }] }] },
      'messages[0].content[0]',
      'essential',
    ],
    [{ messages: [{ role: 'assistant', content: 'x', reasoning_content: 'hm' }] }, 'messages[0].reasoning', 'hint'],
    [{ model: 'claude-3-5-haiku-latest', reasoning_effort: 'low' }, 'reasoning_effort', 'essential'],
  ])('lists unsupported members: %j', (chatBody, member, weight) => {
    expect(fromChat(chatBody).lost).toEqual([{ member, weight }]);
  });

  it('refuses arguments that are not an object', () => {
    const call = { id: 'c', function: { name: 'look', arguments: '[1' } };
    expect(() => fromChat({ messages: [{ role: 'assistant', tool_calls: [call] }] })).toThrow(
      "'messages[0].tool_calls.function.arguments': it must be the JSON text of an object",
    );
  });
});

describe('reasoning', () => {
  const reasoningOf = (chatBody: object) => {
    const { body, lost } = fromChat({ ...chatBody });
    const { thinking, output_config: config, max_tokens: limit } = body;
    return { thinking, config, limit, lost: lost.length };
  };

  it.each([
    [NEWER, 'high', { thinking: { type: 'adaptive' }, config: { effort: 'high' }, limit: 4096 }],
    [NEWER, 'minimal', { thinking: { type: 'adaptive' }, config: { effort: 'low' }, limit: 4096 }],
    [NEWER, 'none', { thinking: { type: 'disabled' }, config: undefined, limit: 4096 }],
    ['claude-opus-5', 'low', { thinking: { type: 'adaptive' }, config: { effort: 'low' }, limit: 4096 }],
    // The limit is the thinking budget plus the default of 4096 tokens for the answer.
    ['claude-sonnet-4-5-20250929', 'low', { thinking: { type: 'enabled', budget_tokens: 1024 }, limit: 5120 }],
    [
      'us.anthropic.claude-opus-4-20250514-v1:0',
      'medium',
      { thinking: { type: 'enabled', budget_tokens: 4096 }, limit: 8192 },
    ],
    ['claude-haiku-4-5', 'none', { limit: 4096 }],
    ['kimi-k3', 'minimal', { thinking: { type: 'enabled', budget_tokens: 1024 }, limit: 5120 }],
  ])('for %s with the effort %s is written as %j', (model, effort, expected) => {
    expect(reasoningOf({ model, reasoning_effort: effort })).toEqual({
      thinking: undefined,
      config: undefined,
      ...expected,
      lost: 0,
    });
  });

  it('leaves tokens for the answer, or is omitted', () => {
    const model = 'claude-sonnet-4-5';
    expect(reasoningOf({ model, reasoning_effort: 'high', max_tokens: 3000 })).toMatchObject({
      thinking: { type: 'enabled', budget_tokens: 2999 },
      limit: 3000,
      lost: 0,
    });
    expect(reasoningOf({ model, reasoning_effort: 'high', max_tokens: 1024 })).toMatchObject({
      thinking: undefined,
      limit: 1024,
      lost: 1,
    });
  });

  it('is not requested after a tool call without thinking blocks', () => {
    const call = { role: 'assistant', tool_calls: [{ id: 'c', function: { name: 'look', arguments: '' } }] };
    const block = { type: 'thinking', thinking: 'Hm.', signature: 'sig' };
    const ask = (assistantMessage: object) => ({
      model: 'claude-sonnet-4-5',
      reasoning_effort: 'low',
      messages: [{ role: 'user', content: 'x' }, assistantMessage, { role: 'tool', tool_call_id: 'c', content: 'y' }],
    });
    expect(reasoningOf(ask(call))).toMatchObject({ thinking: undefined, lost: 1 });
    expect(reasoningOf(ask({ ...call, thinking_blocks: [block] }))).toMatchObject({
      thinking: { type: 'enabled' },
      lost: 0,
    });
    expect(reasoningOf({ ...ask(call), model: NEWER })).toMatchObject({ thinking: { type: 'adaptive' }, lost: 0 });
  });

  it.each([
    ['required', { tool_choice: 'required' }],
    ['one tool', { tool_choice: { type: 'function', function: { name: 'look' } } }],
    [
      'the answer tool',
      { tools: [], response_format: { type: 'json_schema', json_schema: { name: 'a', schema: { type: 'object' } } } },
    ],
  ])('is not requested when a tool call is forced: %s', (_label, members) => {
    const tools = [{ type: 'function', function: { name: 'look' } }];
    const chatBody = { model: 'claude-opus-4-20250514', reasoning_effort: 'high', tools, ...members };
    expect(reasoningOf(chatBody)).toEqual({ thinking: undefined, config: undefined, limit: 4096, lost: 1 });
  });

  it('is not requested of a newer model when a tool call is forced; the effort is sent', () => {
    const chatBody = {
      model: NEWER,
      tools: [{ type: 'function', function: { name: 'look' } }],
      tool_choice: 'required',
    };
    expect(reasoningOf({ ...chatBody, reasoning_effort: 'high' })).toEqual({
      thinking: undefined,
      config: { effort: 'high' },
      limit: 4096,
      lost: 1,
    });
    expect(reasoningOf({ ...chatBody, reasoning_effort: 'none' })).toMatchObject({
      thinking: { type: 'disabled' },
      lost: 0,
    });
  });
});

describe('the format of an answer', () => {
  const schema = {
    type: 'object',
    properties: { who: { type: 'object', properties: { name: { type: 'string', enum: [{ type: 'object' }] } } } },
    $defs: { open: { type: 'object', additionalProperties: true } },
    anyOf: [{ type: 'object' }],
  };
  const schemaFormat = { response_format: { type: 'json_schema', json_schema: { name: 'person', schema } } };

  it('is a schema whose objects are closed, unless they state `additionalProperties`; enum values are kept', () => {
    expect(fromChat(schemaFormat).body['output_config']).toEqual({
      format: {
        type: 'json_schema',
        schema: {
          type: 'object',
          properties: {
            who: {
              type: 'object',
              properties: { name: { type: 'string', enum: [{ type: 'object' }] } },
              additionalProperties: false,
            },
          },
          $defs: { open: { type: 'object', additionalProperties: true } },
          anyOf: [{ type: 'object', additionalProperties: false }],
          additionalProperties: false,
        },
      },
    });
  });

  it('is the argument of a tool for an older model; the call of this tool is hidden from callers', () => {
    const { body } = fromChat({ ...schemaFormat, model: 'claude-3-7-sonnet-20250219' });
    expect(body).toMatchObject({
      tools: [{ name: 'lensgate_json_answer', input_schema: schema }],
      tool_choice: { type: 'any' },
    });
    const content = [{ type: 'tool_use', id: 't', name: 'lensgate_json_answer', input: { who: {} } }];
    expect(OUT.stepsOf({ id: 'msg', content, stop_reason: 'tool_use' }).slice(1)).toEqual([
      { kind: 'text', text: '{"who":{}}' },
      { kind: 'finish', reason: 'stop' },
    ]);
    const reader = OUT.reader();
    const events = [
      { type: 'content_block_start', index: 0, content_block: { ...content[0], input: {} } },
      { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"who":{}}' } },
      { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
    ];
    expect(events.flatMap((event) => reader.read(event, event.type))).toEqual([
      { kind: 'text', text: '{"who":{}}' },
      { kind: 'finish', reason: 'stop' },
    ]);
  });

  it('is requested with a text when it is JSON without a schema', () => {
    expect(fromChat({ response_format: { type: 'json_object' } }).body['system']).toEqual([
      { type: 'text', text: 'Answer with one JSON object and nothing else: no other text, no code fence.' },
    ]);
  });
});
