import type { Usage } from '../../domain/chat/chat.ts';
import type { AnswerContext } from '../dialect.ts';
import { isObject, list } from '../json/fields.ts';
import { usageObject } from './usage.ts';

/** How far a response has come. */
export interface ResponseState {
  readonly id: string;
  readonly status: 'in_progress' | 'completed' | 'incomplete';
  /** Why it is incomplete. */
  readonly reason: 'max_output_tokens' | 'content_filter' | null;
  readonly output: readonly object[];
  readonly usage: Usage | null;
  /** Unix seconds. */
  readonly completedAt: number | null;
}

/** A response as it stands, with every setting of its request, told or taken for granted. */
export function responseObject(about: AnswerContext, state: ResponseState): Readonly<Record<string, unknown>> {
  const { body, followUp } = about;
  const said = (member: string, otherwise: unknown): unknown => body[member] ?? otherwise;
  const reasoning = isObject(body['reasoning']) ? body['reasoning'] : {};
  const text = isObject(body['text']) ? body['text'] : {};
  return {
    id: state.id,
    object: 'response',
    created_at: about.createdAt,
    status: state.status,
    background: false,
    completed_at: state.completedAt,
    error: null,
    incomplete_details: state.reason === null ? null : { reason: state.reason },
    instructions: said('instructions', null),
    max_output_tokens: said('max_output_tokens', null),
    max_tool_calls: said('max_tool_calls', null),
    model: about.model,
    output: state.output,
    parallel_tool_calls: said('parallel_tool_calls', true),
    previous_response_id: followUp?.previousId ?? null,
    prompt_cache_key: said('prompt_cache_key', null),
    reasoning: { effort: null, summary: null, ...reasoning },
    safety_identifier: said('safety_identifier', null),
    service_tier: said('service_tier', 'auto'),
    store: followUp?.keep !== undefined,
    temperature: said('temperature', 1),
    text: { format: { type: 'text' }, verbosity: 'medium', ...text },
    tool_choice: said('tool_choice', 'auto'),
    tools: list(body['tools']),
    top_logprobs: said('top_logprobs', 0),
    top_p: said('top_p', 1),
    truncation: said('truncation', 'disabled'),
    usage: state.usage === null ? null : usageObject(state.usage),
    user: said('user', null),
    metadata: said('metadata', {}),
  };
}
