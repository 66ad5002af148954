/** OpenAI finish reasons, by Anthropic stop reasons. */
const FINISH_REASONS: Readonly<Record<string, string>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  pause_turn: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
};

/** Anthropic stop reasons, by OpenAI finish reasons. */
const STOP_REASONS: Readonly<Record<string, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
};

export const finishReasonOf = (stopReason: string): string => FINISH_REASONS[stopReason] ?? 'stop';

export const stopReasonOf = (finishReason: string): string => STOP_REASONS[finishReason] ?? 'end_turn';
