import type { Usage } from '../../domain/chat/chat.ts';
import { count, type Fields, isObject, list, object } from '../json/fields.ts';
import { withServiceTier } from '../json/service-tier.ts';

/** `usage` object of the Responses API. */
export function usageObject(usage: Usage): Readonly<Record<string, unknown>> {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens } = usage;
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cacheReadTokens, cache_write_tokens: cacheWriteTokens },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: inputTokens + outputTokens,
  };
}

/** Usage of a response: of its `usage` object, its class of service, and the web searches among its items. */
export function usageOfResponse(response: Fields): Usage | null {
  const usage = withServiceTier(usageOf(response['usage']), response['service_tier']);
  const webSearches = list(response['output']).filter((item) => object(item)['type'] === 'web_search_call').length;
  return usage === null || webSearches === 0 ? usage : { ...usage, webSearches };
}

/** Reads the `usage` object of a response. Null when it is missing or has no counts. */
export function usageOf(value: unknown): Usage | null {
  if (!isObject(value)) return null;
  const inputTokens = count(value['input_tokens']);
  const outputTokens = count(value['output_tokens']);
  if (inputTokens === null && outputTokens === null) return null;
  const input = object(value['input_tokens_details']);
  return {
    inputTokens: inputTokens ?? 0,
    outputTokens: outputTokens ?? 0,
    cacheReadTokens: count(input['cached_tokens']) ?? 0,
    cacheWriteTokens: count(input['cache_write_tokens']) ?? 0,
    reasoningTokens: count(object(value['output_tokens_details'])['reasoning_tokens']) ?? 0,
  };
}
