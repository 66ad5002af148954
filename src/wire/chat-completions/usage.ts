import type { Usage } from '../../domain/chat/chat.ts';

/** Token counts as chat completions and completions report them. */
export function usageObject(usage: Usage): Readonly<Record<string, unknown>> {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens } = usage;
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: cacheReadTokens },
    completion_tokens_details: { reasoning_tokens: reasoningTokens },
    // Not OpenAI's, whose models are not billed for writing a cache; the reference reports it so.
    ...(cacheWriteTokens === 0 ? {} : { cache_creation_input_tokens: cacheWriteTokens }),
  };
}
