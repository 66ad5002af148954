import type { AudioTokens, ChatDelta, Usage } from '../../domain/chat/chat.ts';
import type { AnswerMember } from '../../domain/inference/endpoint.ts';
import { addUsd, type Usd, usdFrom } from '../../domain/money.ts';
import type { AnswerError } from '../dialect.ts';
import { count, type Fields, isObject, list, number, object, text } from '../json/fields.ts';

/** What we read of an answer or of one chunk of it; null where it does not say. */
export interface AnswerFacts {
  readonly id: string | null;
  readonly model: string | null;
  readonly finishReason: string | null;
  readonly usage: Usage | null;
  readonly error: AnswerError | null;
}

/** Whether a parsed body can be an answer, a chunk of one, or an error. `member` is the array that answers hold. */
export function isAnswer(value: unknown, member: AnswerMember): boolean {
  return isObject(value) && (Array.isArray(value[member]) || errorOf(value) !== null);
}

/** What an answer, or one chunk of a streamed one, says. */
export function factsOf(value: unknown): AnswerFacts {
  const answer = object(value);
  const reasons = list(answer['choices']).map((choice) => text(object(choice)['finish_reason']));
  return {
    // Azure's first chunk, which only tells of its filters, has empty ones.
    id: text(answer['id']) || null,
    model: text(answer['model']) || null,
    finishReason: reasons.find((reason) => reason !== null) ?? null,
    usage: usageIn(answer) ?? (Array.isArray(answer['choices']) ? null : inputOf(answer['usage'])),
    error: errorOf(answer),
  };
}

/** The counts of an answer, in the places where vendors put them: Groq's and Moonshot's streams have their own. */
function usageIn(answer: Fields): Usage | null {
  return (
    usageOf(answer['usage']) ??
    usageOf(object(answer['x_groq'])['usage']) ??
    usageOf(object(list(answer['choices'])[0])['usage'])
  );
}

/** One `usage` object; null when there is none, or it counts nothing. */
function usageOf(value: unknown): Usage | null {
  const usage = object(value);
  const inputTokens = count(usage['prompt_tokens']);
  const outputTokens = count(usage['completion_tokens']);
  if (inputTokens === null && outputTokens === null) return null;
  const prompt = object(usage['prompt_tokens_details']);
  const completion = object(usage['completion_tokens_details']);
  const audio = audioOf(prompt, completion);
  return {
    inputTokens: inputTokens ?? 0,
    outputTokens: outputTokens ?? 0,
    cacheReadTokens:
      count(prompt['cached_tokens']) ??
      count(usage['cache_read_input_tokens']) ??
      count(usage['prompt_cache_hit_tokens']) ??
      count(usage['cached_tokens']) ??
      0,
    cacheWriteTokens: count(prompt['cache_write_tokens']) ?? count(usage['cache_creation_input_tokens']) ?? 0,
    reasoningTokens: count(completion['reasoning_tokens']) ?? 0,
    ...(audio === null ? {} : { audio }),
  };
}

/** The tokens of sound; null where there were none. Which of them a cache had is not told. */
function audioOf(prompt: Fields, completion: Fields): AudioTokens | null {
  const inputTokens = count(prompt['audio_tokens']) ?? 0;
  const outputTokens = count(completion['audio_tokens']) ?? 0;
  return inputTokens + outputTokens === 0 ? null : { inputTokens, outputTokens, cacheReadTokens: 0 };
}

/** The usage of an answer that no model wrote, where only the total is counted: all of it was read. */
function inputOf(value: unknown): Usage | null {
  const inputTokens = count(object(value)['total_tokens']);
  return inputTokens === null
    ? null
    : { inputTokens, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
}

/**
 * What an answer says it cost, in USD; undefined when it does not say. A caller's own contract with the model's maker,
 * where one is used, is billed apart, and is part of the cost all the same.
 */
export function chargedOf(answer: unknown): Usd | undefined {
  const usage = object(object(answer)['usage']);
  const told = number(usage['cost']) ?? number(object(usage['cost'])['total_cost']);
  if (told === null || told < 0) return undefined;
  const ownContract =
    usage['is_byok'] === true ? (number(object(usage['cost_details'])['upstream_inference_cost']) ?? 0) : 0;
  const charged = usdFrom(told);
  const apart = usdFrom(Math.max(0, ownContract));
  return charged === null || apart === null ? undefined : addUsd(charged, apart);
}

/** Searches a reranking is billed by, as Cohere counts them; null when it does not say. */
export function searchesOf(value: unknown): number | null {
  return count(object(object(object(value)['meta'])['billed_units'])['search_units']);
}

/** The error a body carries, in any of the forms seen in the field; null when it carries none. */
export function errorOf(value: unknown): AnswerError | null {
  const { error } = object(value);
  if (error === undefined || error === null) return null;
  if (typeof error === 'string') return { message: error, type: null, param: null, code: null };
  const fields = object(error);
  const code = fields['code'];
  return {
    message: text(fields['message']) ?? JSON.stringify(error),
    type: text(fields['type']),
    param: text(fields['param']),
    code: typeof code === 'number' ? String(code) : text(code),
  };
}

/** Whether a chunk only counts tokens: usage, and no choice, or as some gateways write it, choices that say nothing. */
export function isUsageChunk(value: unknown): boolean {
  const { choices, usage } = object(value);
  return Array.isArray(choices) && choices.every(saysNothing) && isObject(usage);
}

function saysNothing(choice: unknown): boolean {
  const { delta, text: piece, finish_reason: reason } = object(choice);
  return (
    (reason ?? null) === null && (piece ?? '') === '' && Object.values(object(delta)).every((part) => part === null)
  );
}

/** The steps of the first choice in one chunk of a streamed answer, in order. */
export function deltasOfChunk(value: unknown): readonly ChatDelta[] {
  return deltasOf(value, 'delta');
}

/** A whole answer as the steps a stream of it would have had. */
export function deltasOfAnswer(value: unknown): readonly ChatDelta[] {
  return deltasOf(value, 'message');
}

function deltasOf(value: unknown, part: 'delta' | 'message'): readonly ChatDelta[] {
  const answer = object(value);
  const deltas: ChatDelta[] = [];
  // Further choices (n > 1) have no place in one typed answer; their bytes go through the other lane.
  const choice = object(list(answer['choices']).find((one) => (object(one)['index'] ?? 0) === 0));
  const said = object(choice[part]);
  const reasoning = text(said['reasoning_content']) ?? text(said['reasoning']) ?? '';
  if (reasoning !== '') deltas.push({ kind: 'reasoning', text: reasoning });
  const content = text(said['content']) ?? text(said['refusal']) ?? text(choice['text']) ?? '';
  if (content !== '') deltas.push({ kind: 'text', text: content });
  list(said['tool_calls']).forEach((item, position) => {
    const call = object(item);
    const called = object(call['function']);
    deltas.push({
      kind: 'toolCall',
      index: count(call['index']) ?? position,
      id: text(call['id']),
      name: text(called['name']),
      arguments: text(called['arguments']) ?? '',
    });
  });
  const reason = text(choice['finish_reason']);
  if (reason !== null) deltas.push({ kind: 'finish', reason });
  const usage = usageIn(answer);
  if (usage !== null) deltas.push({ kind: 'usage', usage });
  return deltas;
}
