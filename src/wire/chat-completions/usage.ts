import type { Usage } from '../../domain/chat/chat.ts';

/** `usage` object of chat completions and completions. */
export function usageObject(usage: Usage): Readonly<Record<string, unknown>> {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens } = usage;
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: cacheReadTokens },
    completion_tokens_details: { reasoning_tokens: reasoningTokens },
    // Not a member of OpenAI, which does not bill cache writes. LiteLLM reports cache writes in this member.
    ...(cacheWriteTokens === 0 ? {} : { cache_creation_input_tokens: cacheWriteTokens }),
  };
}
