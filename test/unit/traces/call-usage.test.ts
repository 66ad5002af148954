import { describe, expect, it } from 'vitest';
import { type CallUsage, callUsageOf } from '../../../src/domain/traces/call-usage.ts';
import { readHead } from '../../../src/domain/traces/read-span.ts';
import type { Attributes } from '../../../src/domain/traces/span.ts';
import { aRawSpan } from '../../support/raw-span.ts';

const CHAT: Attributes = {
  'gen_ai.operation.name': 'chat',
  'gen_ai.provider.name': 'openai',
  'gen_ai.request.model': 'gpt-4o',
  'gen_ai.response.model': 'gpt-4o-2024-08-06',
  'gen_ai.usage.input_tokens': 100,
  'gen_ai.usage.output_tokens': 20,
};
const usageOf = (attributes: Attributes): CallUsage | null => {
  const span = aRawSpan({ attributes });
  return callUsageOf(span, readHead(span));
};
const USAGE: CallUsage = {
  models: ['gpt-4o-2024-08-06', 'gpt-4o'],
  provider: 'openai',
  inputTokens: 100,
  outputTokens: 20,
  cacheReadTokens: null,
  cacheWriteTokens: null,
  longCacheWriteTokens: null,
  reasoningTokens: null,
};

describe('the usage of a call for its price', () => {
  it('is read from its span, missing values as null', () => {
    expect(usageOf(CHAT)).toEqual(USAGE);
    expect(
      usageOf({
        ...CHAT,
        'gen_ai.usage.total_tokens': 120,
        'gen_ai.usage.cache_read.input_tokens': 60,
        'gen_ai.usage.cache_creation.input_tokens': 40,
        'gen_ai.usage.reasoning.output_tokens': '20',
        'gen_ai.usage.cost': 0.7,
        'gen_ai.openai.request.service_tier': 'flex',
        'gen_ai.openai.response.service_tier': 'default',
        'gen_ai.output.type': 'json',
      }),
    ).toEqual({ ...USAGE, cacheReadTokens: 60, cacheWriteTokens: 40, reasoningTokens: 20 });
  });

  it('is read from LangChain, with the tokens that a cache stores for an hour', () => {
    const details = { cache_read: 1, cache_creation: 5, ephemeral_1h_input_tokens: 3 };
    const usage = JSON.stringify({ input_tokens: 100, output_tokens: 20, input_token_details: details });
    expect(usageOf({ ...CHAT, 'langsmith.span.kind': 'llm', 'langsmith.metadata.usage_metadata': usage })).toEqual({
      ...USAGE,
      cacheReadTokens: 1,
      cacheWriteTokens: 5,
      longCacheWriteTokens: 3,
    });
  });

  it('is the input only for an embedding', () => {
    const { 'gen_ai.usage.output_tokens': _none, ...withoutOutput } = CHAT;
    const embedding = { ...withoutOutput, 'gen_ai.operation.name': 'embeddings' };
    expect(usageOf(embedding)).toEqual({ ...USAGE, outputTokens: 0 });
    expect(usageOf({ ...embedding, 'gen_ai.usage.input_tokens': 0 })).toBeNull();
  });

  it('is the input only for a failed call without output', () => {
    const failed = (attributes: Attributes) => {
      const span = aRawSpan({ attributes, status: 'error' });
      return callUsageOf(span, readHead(span));
    };
    const { 'gen_ai.usage.output_tokens': _none, ...withoutOutput } = CHAT;
    expect(failed(withoutOutput)).toEqual({ ...USAGE, outputTokens: 0 });
    expect(failed({ ...CHAT, 'gen_ai.usage.output_tokens': 0 })).toEqual({ ...USAGE, outputTokens: 0 });
    expect(failed({ ...CHAT, 'gen_ai.usage.output_tokens': 'many' })).toBeNull();
  });

  it.each<[string, Attributes]>([
    ['not a model call', { 'gen_ai.operation.name': 'execute_tool' }],
    ['a realtime session', { 'gen_ai.operation.name': 'realtime' }],
    ['an image as its answer', { 'gen_ai.output.type': 'image' }],
    ['no input tokens', { 'gen_ai.usage.input_tokens': 0 }],
    ['no count of its output', { 'gen_ai.usage.output_tokens': null }],
    ['an invalid count', { 'gen_ai.usage.output_tokens': 'many' }],
    ['two counts of its input that differ', { 'gen_ai.usage.prompt_tokens': 99 }],
    ['two counts of its output that differ', { 'llm.usage.completion_tokens': 21 }],
    ['a total that is not the sum of its counts', { 'llm.usage.total_tokens': 121 }],
    ['tokens of an unknown kind', { 'gen_ai.usage.input_audio_tokens': 1 }],
    ['more cached tokens than input', { 'gen_ai.usage.cache_read.input_tokens': 101 }],
    [
      'more cached and written tokens than input',
      { 'gen_ai.usage.cache_read.input_tokens': 60, 'gen_ai.usage.cache_creation.input_tokens': 41 },
    ],
    ['more reasoning tokens than output', { 'gen_ai.usage.reasoning.output_tokens': 21 }],
    ['another service tier', { 'gen_ai.openai.response.service_tier': 'priority' }],
    ['another requested service tier', { 'gen_ai.openai.request.service_tier': 'flex' }],
    ['no model', { 'gen_ai.request.model': '', 'gen_ai.response.model': '' }],
  ])('is unknown: %s', (_what, overrides) => {
    expect(usageOf({ ...CHAT, ...overrides })).toBeNull();
  });

  it('ignores counts of zero, and texts that are not counts', () => {
    expect(usageOf({ ...CHAT, 'gen_ai.usage.input_audio_tokens': 0, 'gen_ai.usage.raw': '{}' })).toEqual(USAGE);
  });
});
