import { type Usage, withServiceTier } from '../chat/usage.ts';
import { plausibleUsage } from '../inference/plausible-usage.ts';
import { isJsonObject, type JsonObject, jsonObjectOf } from '../json-object.ts';
import { countOrNull, type ModelUse } from '../upstream-objects/batch-use.ts';

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/**
 * Usage of a response: its `usage` object, its service tier, and the calls of billed tools among its items. Answers in
 * the foreground and responses in the background are charged by it. Null without counts of tokens.
 */
export function usageOfResponse(response: JsonObject): Usage | null {
  const usage = withRetention(
    withServiceTier(usageOf(response['usage']), response['service_tier']),
    response['prompt_cache_retention'],
  );
  const items = listOf(response['output']).map(jsonObjectOf);
  const hasCalls = items.some(({ type }) => typeof type === 'string' && type.endsWith('_call'));
  if (usage === null || !hasCalls) return usage;
  const ofType = (type: string): readonly JsonObject[] => items.filter((item) => item['type'] === type);
  const webSearches = ofType('web_search_call').length;
  const fileSearches = ofType('file_search_call').length;
  // A container is billed once for all its calls. A call without a container id counts as a separate container.
  const codeSessions = new Set(
    ofType('code_interpreter_call').map((item, position) => textOf(item['container_id']) ?? position),
  ).size;
  const sizes = listOf(response['tools']).map((tool) => textOf(jsonObjectOf(tool)['search_context_size']));
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
  const inputTokens = countOrNull(value['input_tokens']);
  const outputTokens = countOrNull(value['output_tokens']);
  if (inputTokens === null && outputTokens === null) return null;
  const input = jsonObjectOf(value['input_tokens_details']);
  return {
    inputTokens: inputTokens ?? 0,
    outputTokens: outputTokens ?? 0,
    cacheReadTokens: countOrNull(input['cached_tokens']) ?? 0,
    cacheWriteTokens: countOrNull(input['cache_write_tokens']) ?? 0,
    reasoningTokens: countOrNull(jsonObjectOf(value['output_tokens_details'])['reasoning_tokens']) ?? 0,
  };
}

/** Usage of a response that has ended, and its model. Null without a plausible usage. */
export function responseUseOf(response: JsonObject): ModelUse | null {
  const usage = plausibleUsage(usageOfResponse(response));
  if (usage === null || usage.inputTokens + usage.outputTokens === 0) return null;
  const { model } = response;
  return { model: typeof model === 'string' && model !== '' ? model : null, usage };
}
