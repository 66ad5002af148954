import { type JsonObject, isJsonObject } from '../../domain/json-object.ts';
import type { Usage } from '../../domain/chat/chat.ts';
import { count, type Fields, list, object, text } from '../json/fields.ts';
import { withServiceTier } from '../../domain/chat/usage.ts';

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

/** Usage of a response: its `usage` object, its service tier, and the calls of billed tools among its items. */
export function usageOfResponse(response: Fields): Usage | null {
  const usage = withRetention(
    withServiceTier(usageOf(response['usage']), response['service_tier']),
    response['prompt_cache_retention'],
  );
  const items = list(response['output']).map(object);
  const hasCalls = items.some(({ type }) => typeof type === 'string' && type.endsWith('_call'));
  if (usage === null || !hasCalls) return usage;
  const ofType = (type: string): readonly Fields[] => items.filter((item) => item['type'] === type);
  const webSearches = ofType('web_search_call').length;
  const fileSearches = ofType('file_search_call').length;
  // A container is billed once for all its calls. A call without a container id counts as a separate container.
  const codeSessions = new Set(
    ofType('code_interpreter_call').map((item, position) => text(item['container_id']) ?? position),
  ).size;
  const sizes = list(response['tools']).map((tool) => text(object(tool)['search_context_size']));
  // An absent size means medium.
  const searchSize = sizes.find((size) => size === 'low' || size === 'high');
  return {
    ...usage,
    ...(webSearches === 0 ? {} : { webSearches }),
    ...(webSearches === 0 || searchSize === undefined ? {} : { searchSize }),
    ...(fileSearches === 0 ? {} : { fileSearches }),
    ...(codeSessions === 0 ? {} : { codeSessions }),
    ...(ofType('computer_call').length === 0 ? {} : { usesComputer: true as const }),
  };
}

/** Marks cache writes with a retention of 24 hours, which cost more. */
const withRetention = (usage: Usage | null, retention: unknown): Usage | null =>
  usage === null || retention !== '24h' || usage.cacheWriteTokens === 0
    ? usage
    : { ...usage, longCacheWriteTokens: usage.cacheWriteTokens };

/** Reads the `usage` object of a response. Null when it is missing or has no counts. */
export function usageOf(value: unknown): Usage | null {
  if (!isJsonObject(value)) return null;
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
