import type { JsonObject } from '../../domain/json-object.ts';
import type { Usage } from '../../domain/chat/chat.ts';

/** `usage` object of the Responses API. */
export function usageObject(usage: Usage): JsonObject {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens } = usage;
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cacheReadTokens, cache_write_tokens: cacheWriteTokens },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: inputTokens + outputTokens,
  };
}
