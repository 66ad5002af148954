import { describe, expect, it } from 'vitest';
import { CONVERSE_NATIVE, CONVERSE_OUT } from '../../../src/wire/converse/native.ts';
import { sampleAnswersSuite, RICH_CHAT, writtenBy } from './sample-answers-suite.ts';

const toolsNamed = (...names: string[]) => names.map((name) => ({ type: 'function', function: { name } }));

const write = writtenBy(CONVERSE_OUT);
const event = (name: string, data: object): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
const start = (contentBlockIndex: number, toolUse: object): string =>
  event('contentBlockStart', { contentBlockIndex, start: { toolUse } });
const delta = (contentBlockIndex: number, change: object): string =>
  event('contentBlockDelta', { contentBlockIndex, delta: change });
const stop = (contentBlockIndex: number): string => event('contentBlockStop', { contentBlockIndex });
const USAGE = {
  inputTokens: 5,
  outputTokens: 7,
  totalTokens: 115,
  cacheReadInputTokens: 100,
  cacheWriteInputTokens: 3,
};
/** Input tokens include those read from the cache and written to it. */
const COUNTED = {
  kind: 'usage',
  usage: { inputTokens: 108, outputTokens: 7, cacheReadTokens: 100, cacheWriteTokens: 3, reasoningTokens: 0 },
} as const;
const BEGIN = { kind: 'begin', id: null, model: null } as const;

sampleAnswersSuite('Converse', CONVERSE_OUT, {
  'thoughts, words and two calls': {
    whole: {
      output: {
        message: {
          role: 'assistant',
          content: [
            { reasoningContent: { reasoningText: { text: 'Hm, so', signature: 'c2ln' } } },
            { reasoningContent: { redactedContent: 'eA==' } },
            { text: 'Ich prüfe 😀' },
            { toolUse: { toolUseId: 't1', name: 'look', input: { at: 1 } } },
            { toolUse: { toolUseId: 't2', name: 'stop', input: {} } },
          ],
        },
      },
      stopReason: 'tool_use',
      usage: USAGE,
      metrics: { latencyMs: 3 },
    },
    stream:
      event('messageStart', { role: 'assistant' }) +
      delta(0, { reasoningContent: { text: 'Hm,' } }) +
      delta(0, { reasoningContent: { text: ' so' } }) +
      delta(0, { reasoningContent: { signature: 'c2' } }) +
      delta(0, { reasoningContent: { signature: 'ln' } }) +
      stop(0) +
      delta(1, { reasoningContent: { redactedContent: 'eA==' } }) +
      stop(1) +
      delta(2, { text: 'Ich prüfe' }) +
      delta(2, { text: ' 😀' }) +
      stop(2) +
      start(3, { toolUseId: 't1', name: 'look' }) +
      delta(3, { toolUse: { input: '{"at"' } }) +
      delta(3, { toolUse: { input: ':1}' } }) +
      stop(3) +
      start(4, { toolUseId: 't2', name: 'stop' }) +
      delta(4, { toolUse: { input: '{}' } }) +
      stop(4) +
      event('messageStop', { stopReason: 'tool_use' }) +
      event('metadata', { usage: USAGE, metrics: { latencyMs: 3 } }),
    steps: [
      BEGIN,
      { kind: 'reasoning', text: 'Hm, so' },
      { kind: 'reasoningProof', proof: 'c2ln' },
      { kind: 'redactedReasoning', proof: 'eA==' },
      { kind: 'text', text: 'Ich prüfe 😀' },
      { kind: 'toolCall', index: 0, id: 't1', name: 'look', arguments: '{"at":1}' },
      { kind: 'toolCall', index: 1, id: 't2', name: 'stop', arguments: '{}' },
      { kind: 'finish', reason: 'tool_calls' },
      COUNTED,
    ],
  },
  'an answer that was cut short': {
    whole: {
      output: { message: { role: 'assistant', content: [{ text: 'To be' }] } },
      stopReason: 'max_tokens',
      usage: USAGE,
    },
    stream:
      event('messageStart', { role: 'assistant' }) +
      delta(0, { text: 'To be' }) +
      stop(0) +
      event('messageStop', { stopReason: 'max_tokens' }) +
      event('metadata', { usage: USAGE }),
    steps: [BEGIN, { kind: 'text', text: 'To be' }, { kind: 'finish', reason: 'length' }, COUNTED],
  },
});

describe('the stop reason of Converse', () => {
  it.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['tool_use', 'tool_calls'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['guardrail_intervened', 'content_filter'],
    ['content_filtered', 'content_filter'],
    ['malformed_model_output', 'stop'],
  ])('becomes a finish reason of chat completions: %s', (stopReason, reason) => {
    expect(CONVERSE_OUT.stepsOf({ output: { message: { content: [] } }, stopReason })).toContainEqual({
      kind: 'finish',
      reason,
    });
  });
});

describe('failures of Bedrock', () => {
  it.each([
    [{ exception: 'throttlingException', message: 'slow' }, 'slow', 'throttlingException', '429'],
    [
      { exception: 'ModelStreamErrorException', message: '' },
      'ModelStreamErrorException',
      'ModelStreamErrorException',
      '424',
    ],
    [{ exception: 'news', message: 'x' }, 'x', 'news', '500'],
    [{ message: 'no', __type: 'com.amazon#ValidationException' }, 'no', 'ValidationException', null],
    [{ Message: 'no' }, 'no', null, null],
  ])('are read: %j', (value, message, type, code) => {
    expect(CONVERSE_NATIVE.errorOf(value)).toEqual({ message, type, param: null, code });
  });

  it('are not read from an answer', () => {
    expect(CONVERSE_NATIVE.errorOf({ output: { message: {} } })).toBeNull();
  });
});

describe('a chat in the format of Converse', () => {
  it('has all members', () => {
    expect(write(RICH_CHAT)).toEqual({
      lost: [],
      body: {
        system: [{ text: 'Be brief.' }],
        messages: [
          {
            role: 'user',
            content: [{ text: 'What is this?' }, { image: { format: 'png', source: { bytes: 'aGk=' } } }],
          },
          {
            role: 'assistant',
            content: [
              { text: 'Looking.' },
              { toolUse: { toolUseId: 'call_1', name: 'look', input: { at: 1 } } },
              { toolUse: { toolUseId: 'call_2', name: 'look', input: {} } },
            ],
          },
          {
            role: 'user',
            content: [
              { toolResult: { toolUseId: 'call_1', content: [{ text: 'a cat' }] } },
              { toolResult: { toolUseId: 'call_2', content: [{ text: 'a dog' }] } },
              { text: 'And?' },
            ],
          },
        ],
        inferenceConfig: { maxTokens: 2000, temperature: 0, topP: 0.5, stopSequences: ['END'] },
        toolConfig: {
          tools: [
            {
              toolSpec: {
                name: 'look',
                description: 'Looks.',
                inputSchema: { json: { type: 'object', properties: {} } },
              },
            },
          ],
          toolChoice: { auto: {} },
        },
      },
    });
  });

  it('has cache points', () => {
    const cache_control = { type: 'ephemeral' };
    const { body, lost } = write({
      messages: [
        { role: 'system', content: [{ type: 'text', text: 'Long.', cache_control: { type: 'ephemeral', ttl: '1h' } }] },
        { role: 'user', content: [{ type: 'text', text: 'Hi', cache_control }] },
      ],
      tools: [{ type: 'function', function: { name: 'a' }, cache_control }],
    });
    expect(lost).toEqual([]);
    expect(body).toEqual({
      system: [{ text: 'Long.' }, { cachePoint: { type: 'default', ttl: '1h' } }],
      messages: [{ role: 'user', content: [{ text: 'Hi' }, { cachePoint: { type: 'default' } }] }],
      toolConfig: {
        tools: [
          { toolSpec: { name: 'a', inputSchema: { json: { type: 'object', properties: {} } } } },
          { cachePoint: { type: 'default' } },
        ],
      },
    });
  });

  it('has thinking blocks with their signatures, and documents with allowed names', () => {
    const file = (filename: string) => ({
      type: 'file',
      file: { filename, file_data: 'data:application/pdf;base64,aGk=' },
    });
    const { body, lost } = write({
      messages: [
        {
          role: 'user',
          content: [file('Bericht_2026/Ü.pdf'), file('Bericht_2026/Ü.pdf'), { type: 'text', text: '?' }],
        },
        {
          role: 'assistant',
          content: 'So.',
          thinking_blocks: [
            { type: 'thinking', thinking: 'Hm', signature: 'c2ln' },
            { type: 'redacted_thinking', data: 'eA==' },
          ],
        },
        // Converse rejects blank text, so this message is left out.
        { role: 'user', content: ' ' },
      ],
    });
    expect(lost).toEqual([]);
    expect(body).toEqual({
      messages: [
        {
          role: 'user',
          content: [
            { document: { format: 'pdf', name: 'Bericht-2026-', source: { bytes: 'aGk=' } } },
            { document: { format: 'pdf', name: 'Bericht-2026- (2)', source: { bytes: 'aGk=' } } },
            { text: '?' },
          ],
        },
        {
          role: 'assistant',
          content: [
            { reasoningContent: { reasoningText: { text: 'Hm', signature: 'c2ln' } } },
            { reasoningContent: { redactedContent: 'eA==' } },
            { text: 'So.' },
          ],
        },
      ],
    });
  });

  it('has the tool choice', () => {
    const tools = [{ type: 'function', function: { name: 'a' } }];
    const choiceOf = (tool_choice: unknown): unknown =>
      (write({ tools, tool_choice }).body as { toolConfig?: { toolChoice?: unknown } }).toolConfig?.toolChoice;
    expect(choiceOf('required')).toEqual({ any: {} });
    expect(choiceOf({ type: 'function', function: { name: 'a' } })).toEqual({ tool: { name: 'a' } });
    expect(write({ tools, tool_choice: 'none' })).toEqual({ body: { messages: [] }, lost: [] });
    const used = [{ role: 'tool', tool_call_id: 'c', content: 'x' }];
    expect(write({ tools, tool_choice: 'none', messages: used }).lost).toEqual([
      { member: 'tool_choice', weight: 'essential' },
    ]);
  });

  it('has the response format', () => {
    const schema = { type: 'object', properties: {} };
    expect(write({ response_format: { type: 'json_schema', json_schema: { name: 'a', schema } } }).body).toEqual({
      messages: [],
      outputConfig: {
        textFormat: { type: 'json_schema', structure: { jsonSchema: { name: 'a', schema: JSON.stringify(schema) } } },
      },
    });
  });

  it('requests JSON without a schema with a text after the system prompt', () => {
    const messages = [{ role: 'system', content: 'Be brief.' }];
    expect(write({ messages, response_format: { type: 'json_object' } }).body).toMatchObject({
      system: [
        { text: 'Be brief.' },
        { text: 'Answer with one JSON object and nothing else: no other text, no code fence.' },
      ],
    });
  });

  it('ignores penalties of zero', () => {
    expect(write({ frequency_penalty: 0, presence_penalty: 0 }).lost).toEqual([]);
  });

  it('has members that only models of one vendor support', () => {
    const extraFieldsOf = (model: string, body: object): unknown =>
      (write({ model, ...body }).body as { additionalModelRequestFields?: unknown }).additionalModelRequestFields;
    expect(extraFieldsOf('anthropic.claude-x', { top_k: 5, reasoning_effort: 'low', max_tokens: 5000 })).toEqual({
      top_k: 5,
      thinking: { type: 'enabled', budget_tokens: 1024 },
    });
    // The budget of a high effort is larger than the output limit: one token remains for the answer.
    expect(extraFieldsOf('us.anthropic.claude-x', { reasoning_effort: 'high', max_tokens: 5000 })).toEqual({
      thinking: { type: 'enabled', budget_tokens: 4999 },
    });
    expect(extraFieldsOf('anthropic.claude-x', { reasoning_effort: 'none' })).toBeUndefined();
    expect(extraFieldsOf('amazon.nova-pro-v1:0', { top_k: 5 })).toEqual({ inferenceConfig: { topK: 5 } });
  });

  it('does not request thinking that Claude would reject', () => {
    const request = { model: 'anthropic.claude-x', reasoning_effort: 'low', tools: toolsNamed('a') };
    const used = [
      { role: 'assistant', tool_calls: [{ id: 'c', function: { name: 'a', arguments: '{}' } }] },
      { role: 'tool', tool_call_id: 'c', content: 'y' },
    ];
    expect(write(request).body).toMatchObject({ additionalModelRequestFields: { thinking: { type: 'enabled' } } });
    // A required tool, an earlier tool call without its thinking, and no tokens beside the smallest budget of 1,024.
    for (const members of [{ tool_choice: 'required' }, { messages: used }, { max_tokens: 1024 }]) {
      const { body, lost } = write({ ...request, ...members });
      expect([body, lost]).toEqual([
        expect.not.objectContaining({ additionalModelRequestFields: expect.anything() }),
        [{ member: 'reasoning_effort', weight: 'hint' }],
      ]);
    }
  });

  it.each([
    ['seed', { seed: 7 }, 'hint'],
    ['frequency_penalty', { frequency_penalty: 1 }, 'essential'],
    ['presence_penalty', { presence_penalty: 1 }, 'essential'],
    ['parallel_tool_calls', { parallel_tool_calls: false, tools: toolsNamed('a', 'b') }, 'essential'],
    ['parallel_tool_calls', { parallel_tool_calls: false, tools: toolsNamed('a') }, 'hint'],
    ['top_k', { top_k: 5 }, 'essential'],
    ['reasoning_effort', { reasoning_effort: 'low' }, 'essential'],
    ['response_format', { response_format: { type: 'json_object' } }, 'hint'],
    ['user', { user: 'u' }, 'hint'],
    [
      'messages[0].content[0]',
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://a/b.png' } }] }] },
      'essential',
    ],
    [
      'messages[0].content[0]',
      {
        messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'aGk=', format: 'mp3' } }] }],
      },
      'essential',
    ],
    ['messages[0].reasoning', { messages: [{ role: 'assistant', content: 'a', reasoning_content: 'b' }] }, 'hint'],
  ])('names unsupported members: %s', (member, body, weight) => {
    expect(write(body).lost).toEqual([{ member, weight }]);
  });
});
