import type { AnswerContext } from '../dialect.ts';
import { count, type Fields, object, lookupTable } from '../json/fields.ts';
import type { Usage } from '../../domain/chat/chat.ts';

/** Id of a message without an upstream id. */
export const messageIdOf = ({ fallbackId }: AnswerContext): string => `msg_${fallbackId.replaceAll('-', '')}`;

/** `usage` of a message without counts. Clients require the numbers. */
export const NO_USAGE: Fields = { input_tokens: 0, output_tokens: 0 };

/** End of an answer, from its steps. */
export interface AnswerEnd {
  readonly finishReason: string | null;
  readonly stopSequence: string | null;
  /** Whether the answer is a refusal. */
  readonly hasRefusal: boolean;
}

/** Stop members of a message. */
export function stopFields({ finishReason, stopSequence, hasRefusal }: AnswerEnd): Fields {
  const reason = stopReasonOf(hasRefusal ? 'content_filter' : (finishReason ?? 'stop'));
  const isStopSequence = stopSequence !== null && reason === 'end_turn';
  return { stop_reason: isStopSequence ? 'stop_sequence' : reason, stop_sequence: stopSequence };
}

/** OpenAI finish reasons, by Anthropic stop reasons. */
const FINISH_REASONS = lookupTable<string>({
  end_turn: 'stop',
  stop_sequence: 'stop',
  pause_turn: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
});

/** Anthropic stop reasons, by OpenAI finish reasons. */
const STOP_REASONS = lookupTable<string>({
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
});

export const finishReasonOf = (stopReason: string): string => FINISH_REASONS[stopReason] ?? 'stop';

const stopReasonOf = (finishReason: string): string => STOP_REASONS[finishReason] ?? 'end_turn';

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

/**
 * Name of the tool that models without structured outputs get, so that their answer matches a schema. The arguments of
 * the call become the answer text. Callers do not see the call.
 */
export const ANSWER_TOOL = 'lensgate_json_answer';
