import type { Usage } from '../../domain/chat/chat.ts';
import { count, type Fields, object } from '../json/fields.ts';

/** Token counts of a `usage` object; null where it counts nothing. Anthropic counts what a cache had apart from the input. */
export function usageOf(value: unknown): Usage | null {
  const usage = object(value);
  const fresh = count(usage['input_tokens']);
  const outputTokens = count(usage['output_tokens']);
  if (fresh === null && outputTokens === null) return null;
  const cacheReadTokens = count(usage['cache_read_input_tokens']) ?? 0;
  const cacheWriteTokens = count(usage['cache_creation_input_tokens']) ?? 0;
  const longCacheWriteTokens = count(object(usage['cache_creation'])['ephemeral_1h_input_tokens']) ?? 0;
  return {
    inputTokens: (fresh ?? 0) + cacheReadTokens + cacheWriteTokens,
    outputTokens: outputTokens ?? 0,
    cacheReadTokens,
    cacheWriteTokens,
    reasoningTokens: count(object(usage['output_tokens_details'])['thinking_tokens']) ?? 0,
    ...(longCacheWriteTokens === 0 ? {} : { longCacheWriteTokens }),
  };
}

/** The same as messages report it. */
export function usageFields(usage: Usage): Fields {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens } = usage;
  return {
    input_tokens: Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens),
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: cacheReadTokens,
    output_tokens: outputTokens,
    ...(reasoningTokens === 0 ? {} : { output_tokens_details: { thinking_tokens: reasoningTokens } }),
  };
}
