import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { modelNameOf } from '../../../src/domain/catalog/model-names.ts';
import { modelsOfMap } from '../../../src/domain/catalog/price-map.ts';
import { loadEmbeddedSnapshot } from '../../../src/runtime/catalog/snapshot.ts';

const OLDER_MAP = new URL('../../../../shared/data/model_prices.json', import.meta.url);

/** Ids whose logical model is not its own logical model, each as `[id, its model, the model of its model]`. */
const unstableNames = (ids: readonly string[]): readonly (readonly string[])[] =>
  ids.flatMap((id) => {
    const name = modelNameOf(id);
    return modelNameOf(name) === name ? [] : [[id, name, modelNameOf(name)]];
  });

describe('the logical model of an id', () => {
  it.each([
    // Hosts, regions, contracts, sizes and qualities do not distinguish models.
    ['gpt-4o', ['gpt-4o', 'azure/eu/gpt-4o', 'openrouter/openai/gpt-4o', 'gradient_ai/openai-gpt-4o', 'azure/GPT-4o']],
    ['gpt-image-1', ['gpt-image-1', 'low/1024-x-1024/gpt-image-1', 'azure/high/1536-x-1024/gpt-image-1']],
    ['gpt-image-2', ['fal_ai/openai/gpt-image-2/edit', 'fal_ai/low/1024-x-768/openai/gpt-image-2']],
    [
      'gpt-oss-120b',
      [
        'groq/openai/gpt-oss-120b',
        'openai.gpt-oss-120b-1:0',
        'ollama/gpt-oss:120b-cloud',
        'vertex_ai/openai/gpt-oss-120b-maas',
      ],
    ],
    ['command-text-v14', ['bedrock/*/1-month-commitment/cohere.command-text-v14', 'cohere.command-text-v14']],
    ['claude-v2.1', ['anthropic.claude-v2:1', 'bedrock/eu-central-1/6-month-commitment/anthropic.claude-v2:1']],
    // A dated snapshot is a separate model, in any date format.
    [
      'claude-sonnet-4.5-20250929',
      [
        'claude-sonnet-4-5-20250929',
        'us-gov.anthropic.claude-sonnet-4-5-20250929-v1:0',
        'vertex_ai/claude-sonnet-4-5@20250929',
      ],
    ],
    [
      'claude-sonnet-4.5',
      [
        'claude-sonnet-4-5',
        'replicate/anthropic/claude-4.5-sonnet',
        'gmi/anthropic/claude-sonnet-4.5',
        'databricks/databricks-claude-sonnet-4-5',
      ],
    ],
    ['claude-opus-4.6', ['us.anthropic.claude-opus-4-6-v1', 'vertex_ai/claude-opus-4-6@default']],
    [
      'claude-3.5-sonnet-20241022',
      ['anthropic.claude-3-5-sonnet-20241022-v2:0', 'vercel_ai_gateway/anthropic/claude-3-5-sonnet-20241022'],
    ],
    // Spellings of versions and families have one normal form.
    [
      'llama-3.1-8b-instruct',
      [
        'meta.llama3-1-8b-instruct-v1:0',
        'fireworks_ai/accounts/fireworks/models/llama-v3p1-8b-instruct',
        'x/Meta-Llama-3_1-8B-Instruct',
        'lambda_ai/llama3.1-8b-instruct',
      ],
    ],
    ['llama-3-70b-instruct', ['meta.llama3-70b-instruct-v1:0', 'anyscale/meta-llama/Meta-Llama-3-70B-Instruct']],
    ['glm-4.6', ['openrouter/z-ai/glm-4.6:exacto', 'fireworks_ai/accounts/fireworks/models/glm-4p6']],
    ['grok-4.20-reasoning', ['azure_ai/grok-4-20-reasoning', 'oci/xai.grok-4.20-reasoning']],
    ['gpt-3.5-turbo', ['azure/gpt-35-turbo', 'gpt-3.5-turbo']],
    ['qwen3-32b', ['cerebras/qwen-3-32b', 'deepinfra/Qwen/Qwen3-32B', 'qwen.qwen3-32b-v1:0']],
    ['deepseek-r1', ['us.deepseek.r1-v1:0', 'nebius/deepseek-ai/DeepSeek-R1']],
    ['embed-v4.0', ['us.cohere.embed-v4:0', 'cohere/embed-v4.0']],
    ['mistral-7b-instruct-v0.2', ['mistral.mistral-7b-instruct-v0:2', 'ollama/mistral-7B-Instruct-v0.2']],
    // A last segment that is not a model name is joined with the segment before it.
    ['stability-fast', ['stability/fast']],
    ['exa_ai-search', ['exa_ai/search']],
    ['flux-pro-v1.1', ['aiml/flux-pro/v1.1', 'fal_ai/fal-ai/flux-pro/v1.1']],
  ])('%s is found for every spelling of its id', (name, ids) => {
    expect(ids.map((id) => [id, modelNameOf(id)])).toEqual(ids.map((id) => [id, name]));
  });

  it.each([
    ['dated snapshots', ['gpt-4o', 'gpt-4o-2024-08-06', 'gpt-4o-2024-11-20']],
    ['sizes', ['llama-3.1-8b-instruct', 'llama-3.1-70b-instruct', 'ollama/llama3:8b', 'ollama/llama3:70b']],
    ['base and instruct', ['meta.llama3-8b-instruct-v1:0', 'replicate/meta/llama-3-8b']],
    ['quantisations', ['qwen3-32b', 'lambda_ai/qwen3-32b-fp8']],
    ['fine-tuned and base', ['gpt-4o-2024-08-06', 'ft:gpt-4o-2024-08-06']],
    ['dates that look like versions', ['gpt-4-0613', 'gpt-4-1106-preview', 'gpt-4', 'gpt-4.1']],
    ['context sizes', ['azure/gpt-4-32k', 'azure/gpt-4']],
    ['revisions that are versions', ['stability.stable-image-core-v1:0', 'stability.stable-image-core-v1:1']],
    ['products of one word', ['exa_ai/search', 'tavily/search', 'deepgram/base', 'deepgram/enhanced']],
  ])('differs for %s', (_case, ids) => {
    expect(new Set(ids.map(modelNameOf)).size).toBe(ids.length);
  });

  it('is empty only for the empty id, also among unusual ids', () => {
    const unusualIds = ['', '/', 'edit', 'text-to-image/edit', 'a/', ':0', '@', 'fast/pro'];
    expect(unusualIds.map(modelNameOf)).toEqual(['', '/', 'edit', 'text-to-image', 'a', ':0', '-', 'fast-pro']);
  });

  it('is its own logical model, for every id in the built-in map', () => {
    expect(unstableNames(loadEmbeddedSnapshot().entries.map(({ id }) => id))).toEqual([]);
  });

  it.skipIf(!existsSync(OLDER_MAP))('is its own logical model, for every id in an older map', () => {
    const models = modelsOfMap(JSON.parse(readFileSync(OLDER_MAP, 'utf8'))) ?? [];
    expect(models.length).toBeGreaterThan(0);
    expect(unstableNames(models.map(([id]) => id))).toEqual([]);
  });
});
