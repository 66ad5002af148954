import { describe, expect, it } from 'vitest';
import { readSpans } from '../../support/read-spans.ts';
import type { RawSpan } from '../../../src/domain/traces/span.ts';
import { tokenDetailsOf } from '../../../src/domain/traces/token-details.ts';
import { aRawSpan } from '../../support/raw-span.ts';

const read = (attributes: RawSpan['attributes'], parentSpanId: string | null = 'aaaaaaaaaaaaaaaa') =>
  readSpans([aRawSpan({ attributes, parentSpanId })], { teamId: null, keyHash: 'k' })[0];

describe('the AI SDK', () => {
  it.each([
    ['ai.generateText', 'agent'],
    ['ai.streamObject', 'agent'],
    ['ai.generateText.doGenerate', 'llm'],
    ['ai.streamText.doStream', 'llm'],
    ['ai.toolCall', 'tool'],
    ['ai.embedMany', 'embedding'],
    ['ai.embed.doEmbed', 'embedding'],
    ['ai.rerank', 'reranker'],
    ['ai.somethingNew', 'chain'],
    ['constructor', 'chain'],
  ])('%s has the type %s', (operation, type) => {
    expect(read({ 'ai.operationId': operation })?.type).toBe(type);
  });

  it.each([
    ['a prompt', { system: 'Be brief.', prompt: 'Hi' }, 'Hi'],
    ['a prompt of messages', { system: 'Be brief.', prompt: [{ role: 'user', content: 'Hi' }] }, 'Hi'],
    [
      'messages',
      { system: { role: 'system', content: 'Be brief.' }, messages: [{ role: 'user', content: 'Hi' }] },
      'Hi',
    ],
  ])('%s becomes a conversation as the input of a run', (_what, prompt, preview) => {
    const span = read({ 'ai.operationId': 'ai.generateText', 'ai.prompt': JSON.stringify(prompt) });
    expect(span).toMatchObject({
      input: '[{"role":"system","content":"Be brief."},{"role":"user","content":"Hi"}]',
      inputPreview: preview,
      attributes: { 'ai.operationId': 'ai.generateText' },
    });
  });

  it('a prompt with further members is unchanged', () => {
    const prompt = '{"prompt":"Hi","schema":{}}';
    expect(read({ 'ai.operationId': 'ai.generateObject', 'ai.prompt': prompt })?.input).toBe(prompt);
  });

  it('a call has its messages with tool results, and an answer of text and tool calls', () => {
    const messages = [
      { role: 'user', content: [{ type: 'text', text: 'Weather?' }] },
      {
        role: 'assistant',
        content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'weather', input: { in: 'B' } }],
      },
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: 'c1',
            toolName: 'weather',
            output: { type: 'json', value: { sky: 'grey' } },
          },
        ],
      },
    ];
    const span = read({
      'ai.operationId': 'ai.streamText.doStream',
      'ai.telemetry.functionId': 'forecaster',
      'ai.model.id': 'm',
      'ai.prompt.messages': JSON.stringify(messages),
      'ai.response.text': 'And there?',
      'ai.response.toolCalls': '[{"toolCallId":"c2","toolName":"weather","input":"{\\"in\\":\\"C\\"}"}]',
      'ai.response.id': 'r-1',
      'ai.usage.inputTokens': 20,
      'ai.usage.outputTokens': 9,
      'ai.usage.cachedInputTokens': 12,
      'ai.usage.reasoningTokens': 4,
    });
    expect(JSON.parse(span?.input ?? '')).toEqual([
      { role: 'user', content: 'Weather?' },
      { role: 'assistant', content: '', tool_calls: [{ name: 'weather', arguments: '{"in":"B"}', id: 'c1' }] },
      { role: 'tool', content: '{"sky":"grey"}', name: 'weather' },
    ]);
    expect(JSON.parse(span?.output ?? '')).toEqual([
      {
        role: 'assistant',
        content: 'And there?',
        tool_calls: [{ name: 'weather', arguments: '{"in":"C"}', id: 'c2' }],
      },
    ]);
    expect(span).toMatchObject({ agent: 'forecaster', model: 'm', requestId: 'r-1', inputTokens: 20, outputTokens: 9 });
    expect(tokenDetailsOf(span?.attributes ?? {})).toEqual({ cacheRead: 12, cacheWrite: null, reasoning: 4 });
  });

  it('invalid tool calls stay an attribute', () => {
    const span = read({
      'ai.operationId': 'ai.generateText.doGenerate',
      'ai.response.text': 'hi',
      'ai.response.toolCalls': '[broken',
    });
    expect(span).toMatchObject({
      output: '[{"role":"assistant","content":"hi"}]',
      attributes: { 'ai.response.toolCalls': '[broken' },
    });
  });

  it('the tokens of an embedding count once, in the span of the model call', () => {
    const tokens = { 'ai.usage.tokens': 5 };
    expect(read({ 'ai.operationId': 'ai.embed', ...tokens })?.inputTokens).toBe(0);
    expect(read({ 'ai.operationId': 'ai.embed.doEmbed', ...tokens })?.inputTokens).toBe(5);
  });
});
