import { describe, expect, it } from 'vitest';
import { usdText } from '../../../src/domain/money.ts';
import type { CallUsage } from '../../../src/domain/traces/call-usage.ts';
import { entryOfModel, estimatorOf } from '../../../src/gateway/accounting/estimate-call.ts';
import { snapshotOfRows } from '../../support/catalog-maps.ts';

type Row = Readonly<Record<string, unknown>>;

const PLAIN: Row = {
  litellm_provider: 'openai',
  mode: 'chat',
  input_cost_per_token: 2e-6,
  output_cost_per_token: 10e-6,
};
const USED: CallUsage = {
  models: ['m'],
  provider: 'openai',
  inputTokens: 1_000,
  outputTokens: 100,
  cacheReadTokens: null,
  cacheWriteTokens: null,
  longCacheWriteTokens: null,
  reasoningTokens: null,
};
const costBy = (rows: Readonly<Record<string, Row>>, used: Partial<CallUsage> = {}): string | null => {
  const usage = { ...USED, ...used };
  const cost = estimatorOf(snapshotOfRows('test', rows), usage)?.(usage) ?? null;
  return cost === null ? null : usdText(cost);
};
const cost = (row: Row, used: Partial<CallUsage> = {}): string | null => costBy({ m: { ...PLAIN, ...row } }, used);

describe('the estimated cost of a call that the gateway did not make', () => {
  // Without other members: 1,000 x 0.000002 + 100 x 0.00001 = 0.003.
  it.each<[string, Row, Partial<CallUsage>, string]>([
    ['plain tokens', {}, {}, '0.003'],
    ['cached input', { cache_read_input_token_cost: 0.5e-6 }, { cacheReadTokens: 600 }, '0.0021'],
    ['no cached input', { cache_read_input_token_cost: 0.5e-6 }, { cacheReadTokens: 0 }, '0.003'],
    ['cache writes', { cache_creation_input_token_cost: 2.5e-6 }, { cacheWriteTokens: 400 }, '0.0032'],
    [
      'cache writes of an hour',
      { cache_creation_input_token_cost: 2.5e-6, cache_creation_input_token_cost_above_1hr: 4e-6 },
      { cacheWriteTokens: 400, longCacheWriteTokens: 100 },
      '0.00335',
    ],
    ['reasoning', { output_cost_per_reasoning_token: 20e-6 }, { reasoningTokens: 50 }, '0.0035'],
    ['a tier', { input_cost_per_token_above_128k_tokens: 4e-6 }, { inputTokens: 128_001 }, '0.513004'],
    ['a fee per request', { input_cost_per_request: 0.01 }, {}, '0.013'],
    ['fractions, exactly', { input_cost_per_token: 1.23e-10 }, { inputTokens: 3 }, '0.001000000369'],
    ['an unknown number of cached tokens, at the full price', { cache_read_input_token_cost: 0.5e-6 }, {}, '0.003'],
    ['an unknown number of cache writes', { cache_creation_input_token_cost: 2.5e-6 }, {}, '0.003'],
    ['embeddings', { mode: 'embedding', output_cost_per_token: 0 }, { outputTokens: 0 }, '0.002'],
    [
      'embeddings without a price of output',
      { mode: 'embedding', output_cost_per_token: null },
      { outputTokens: 0 },
      '0.002',
    ],
    ['a failed call without output', { output_cost_per_reasoning_token: 20e-6 }, { outputTokens: 0 }, '0.002'],
    [
      'an unknown number of cached tokens that cost as much as other input',
      { cache_read_input_token_cost: 2e-6 },
      {},
      '0.003',
    ],
  ])('is computed for %s', (_what, row, used, expected) => {
    expect(cost(row, used)).toBe(expected);
  });

  it.each<[string, Row, Partial<CallUsage>]>([
    [
      'the tokens cached for an hour are unknown',
      { cache_creation_input_token_cost: 2.5e-6, cache_creation_input_token_cost_above_1hr: 4e-6 },
      { cacheWriteTokens: 1 },
    ],
    ['the reasoning tokens are unknown', { output_cost_per_reasoning_token: 20e-6 }, {}],
    ['the model has no price of output', { output_cost_per_token: null }, {}],
    ['the model has no price of input', { input_cost_per_token: null }, {}],
    ['the prices are zero, which may mean unknown', { input_cost_per_token: 0, output_cost_per_token: 0 }, {}],
    ['the model is billed by the second', { output_cost_per_second: 0.1 }, {}],
    ['the model is billed by the character', { input_cost_per_character: 1e-7 }, {}],
    ['the model costs more in some regions', { regional_processing_uplift_multiplier_eu: 1.1 }, {}],
    ['the model has prices by region or customer', { provider_specific_entry: { us: 1.1 } }, {}],
    ['the model has another mode', { mode: 'rerank' }, {}],
    [
      'the model is an embedding model with a price of zero',
      { mode: 'embedding', input_cost_per_token: 0, output_cost_per_token: null },
      {},
    ],
    ['the catalog does not have the model', {}, { models: ['other'] }],
    ['the provider of the call does not offer the model', {}, { provider: 'mistral' }],
  ])('is not known when %s', (_why, row, used) => {
    expect(cost(row, used)).toBeNull();
  });

  it('ignores a price of zero for another unit, and the price of web searches', () => {
    expect(cost({ input_cost_per_character: 0, search_context_cost_per_query: { low: 0.01 } })).toBe('0.003');
  });
});

describe('the catalog entry', () => {
  const rows: Readonly<Record<string, Row>> = {
    'gpt-4o': PLAIN,
    'gpt-4o-2024-08-06': PLAIN,
    'azure/gpt-4o': { ...PLAIN, litellm_provider: 'azure' },
    'gemini/gemini-2.5-pro': { ...PLAIN, litellm_provider: 'gemini' },
    'gemini-2.5-pro': { ...PLAIN, litellm_provider: 'vertex_ai-language-models' },
    'anthropic.claude-v2': { ...PLAIN, litellm_provider: 'bedrock' },
    'xai/grok-4': { ...PLAIN, litellm_provider: 'xai' },
    lonely: { ...PLAIN, litellm_provider: 'solo' },
  };
  const catalog = snapshotOfRows('names', rows);
  const idOf = (provider: string | null, ...models: readonly string[]): string | null =>
    entryOfModel(catalog, { models, provider })?.id ?? null;

  it.each([
    ['openai', 'gpt-4o', 'gpt-4o'],
    ['OpenAI', 'gpt-4o', 'gpt-4o'],
    ['openai.chat', 'gpt-4o', 'gpt-4o'],
    ['azure.ai.openai', 'gpt-4o', 'azure/gpt-4o'],
    ['gcp.gemini', 'models/gemini-2.5-pro', 'gemini/gemini-2.5-pro'],
    ['gcp.vertex_ai', 'gemini-2.5-pro', 'gemini-2.5-pro'],
    ['aws.bedrock', 'anthropic.claude-v2', 'anthropic.claude-v2'],
    ['x_ai', 'grok-4', 'xai/grok-4'],
    ['solo', 'lonely', 'lonely'],
    ['langchain', 'gpt-4o', null],
    ['openai', 'azure/gpt-4o', null],
    ['constructor', 'gpt-4o', null],
  ])('for the provider %s and the model %s is %s', (provider, model, id) => {
    expect(idOf(provider, model)).toBe(id);
  });

  it('is the entry of the first model name that the catalog contains', () => {
    expect(idOf('openai', 'gpt-4o-2024-08-06', 'gpt-4o')).toBe('gpt-4o-2024-08-06');
    expect(idOf('openai', 'my own name', 'gpt-4o')).toBe('gpt-4o');
  });

  it('without a provider is the only entry of the model, or null where the model has several entries', () => {
    expect([idOf(null, 'gpt-4o'), idOf(null, 'lonely'), idOf(null, 'xai/grok-4')]).toEqual([
      null,
      'lonely',
      'xai/grok-4',
    ]);
  });
});
