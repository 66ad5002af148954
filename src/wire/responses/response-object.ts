import { type JsonObject, isJsonObject } from '../../domain/json-object.ts';
import type { Usage } from '../../domain/chat/chat.ts';
import type { AnswerContext } from '../dialect.ts';
import { list } from '../json/fields.ts';
import { usageObject } from './usage.ts';

/** State of a response. */
export interface ResponseState {
  readonly id: string;
  readonly status: 'in_progress' | 'completed' | 'incomplete';
  /** Why the response is incomplete. Null otherwise. */
  readonly reason: 'max_output_tokens' | 'content_filter' | null;
  readonly output: readonly object[];
  readonly usage: Usage | null;
  /** Unix seconds. Null unless the status is `completed`. */
  readonly completedAt: number | null;
}

/** Response object in its current state, with the settings of its request or their defaults. */
export function responseObject(context: AnswerContext, state: ResponseState): JsonObject {
  const { body, followUp } = context;
  const setting = (member: string, fallback: unknown): unknown => body[member] ?? fallback;
  const reasoning = isJsonObject(body['reasoning']) ? body['reasoning'] : {};
  const text = isJsonObject(body['text']) ? body['text'] : {};
  return {
    id: state.id,
    object: 'response',
    created_at: context.createdAt,
    status: state.status,
    background: false,
    completed_at: state.completedAt,
    error: null,
    incomplete_details: state.reason === null ? null : { reason: state.reason },
    instructions: setting('instructions', null),
    max_output_tokens: setting('max_output_tokens', null),
    max_tool_calls: setting('max_tool_calls', null),
    model: context.model,
    output: state.output,
    parallel_tool_calls: setting('parallel_tool_calls', true),
    previous_response_id: followUp?.previousId ?? null,
    prompt_cache_key: setting('prompt_cache_key', null),
    reasoning: { effort: null, summary: null, ...reasoning },
    safety_identifier: setting('safety_identifier', null),
    service_tier: setting('service_tier', 'auto'),
    store: followUp?.store !== undefined,
    temperature: setting('temperature', 1),
    text: { format: { type: 'text' }, verbosity: 'medium', ...text },
    tool_choice: setting('tool_choice', 'auto'),
    tools: list(body['tools']),
    top_logprobs: setting('top_logprobs', 0),
    top_p: setting('top_p', 1),
    truncation: setting('truncation', 'disabled'),
    usage: state.usage === null ? null : usageObject(state.usage),
    user: setting('user', null),
    metadata: setting('metadata', {}),
  };
}
