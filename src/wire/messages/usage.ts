import type { Usage } from '../../domain/chat/chat.ts';
import { count, type Fields, object } from '../json/fields.ts';

/** Reads a `usage` object. Null when it has no counts. Anthropic's `input_tokens` exclude cached tokens. */
export function usageOf(value: unknown): Usage | null {
  const usage = object(value);
  const uncachedTokens = count(usage['input_tokens']);
  const outputTokens = count(usage['output_tokens']);
  if (uncachedTokens === null && outputTokens === null) return null;
  const cacheReadTokens = count(usage['cache_read_input_tokens']) ?? 0;
  const cacheWriteTokens = count(usage['cache_creation_input_tokens']) ?? 0;
  const webSearches = count(object(usage['server_tool_use'])['web_search_requests']) ?? 0;
  const longCacheWriteTokens = count(object(usage['cache_creation'])['ephemeral_1h_input_tokens']) ?? 0;
  return {
    inputTokens: (uncachedTokens ?? 0) + cacheReadTokens + cacheWriteTokens,
    outputTokens: outputTokens ?? 0,
    cacheReadTokens,
    cacheWriteTokens,
    reasoningTokens: count(object(usage['output_tokens_details'])['thinking_tokens']) ?? 0,
    ...(longCacheWriteTokens === 0 ? {} : { longCacheWriteTokens }),
    ...(webSearches === 0 ? {} : { webSearches }),
  };
}

/** `usage` object of a message. */
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
