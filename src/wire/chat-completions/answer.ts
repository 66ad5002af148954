import { isJsonObject } from '../../domain/json-object.ts';
import type { AudioTokens, ChatDelta, Usage } from '../../domain/chat/chat.ts';
import type { AnswerMember } from '../../domain/inference/endpoint.ts';
import { addUsd, type Usd, usdFrom } from '../../domain/money.ts';
import type { AnswerError } from '../dialect.ts';
import { count, type Fields, list, number, object, text } from '../json/fields.ts';
import { withServiceTier } from '../../domain/chat/usage.ts';

/** Facts of an answer or of one chunk. Facts that it does not contain are null. */
export interface AnswerFacts {
  readonly id: string | null;
  readonly model: string | null;
  readonly finishReason: string | null;
  readonly usage: Usage | null;
  readonly error: AnswerError | null;
}

/** Whether parsed JSON can be an answer, a chunk or an error. `member` is the array member of answers. */
export function isAnswer(value: unknown, member: AnswerMember): boolean {
  return isJsonObject(value) && (Array.isArray(value[member]) || errorOf(value) !== null);
}

/** Facts of an answer or of one chunk of a stream. */
export function factsOf(value: unknown): AnswerFacts {
  const answer = object(value);
  let finishReason: string | null = null;
  for (const choice of list(answer['choices'])) finishReason ??= text(object(choice)['finish_reason']);
  const hasChoices = Array.isArray(answer['choices']);
  return {
    // Azure's first chunk contains only filter results; its id and model are empty.
    id: text(answer['id']) || null,
    model: text(answer['model']) || null,
    finishReason,
    usage: usageIn(answer) ?? (hasChoices ? null : inputOnlyUsage(answer['usage'])),
    error: errorOf(answer),
  };
}

/** Usage of an answer. Streams of Groq and Moonshot have it in other members. */
function usageIn(answer: Fields): Usage | null {
  const usage =
    usageOf(answer['usage']) ??
    usageOf(object(answer['x_groq'])['usage']) ??
    usageOf(object(list(answer['choices'])[0])['usage']);
  return withServiceTier(usage, answer['service_tier']);
}

/** Reads a `usage` object. Null without prompt and completion tokens, or when one of the two is invalid, such as -1. */
export function usageOf(value: unknown): Usage | null {
  const usage = object(value);
  if (isInvalidCount(usage['prompt_tokens']) || isInvalidCount(usage['completion_tokens'])) return null;
  const inputTokens = count(usage['prompt_tokens']);
  const outputTokens = count(usage['completion_tokens']);
  if (inputTokens === null && outputTokens === null) return null;
  const prompt = object(usage['prompt_tokens_details']);
  const completion = object(usage['completion_tokens_details']);
  const audio = audioOf(prompt, completion);
  const searches = searchesAndCitations(usage);
  const tokens: Usage = {
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
  };
  return audio === null && searches === null
    ? tokens
    : { ...tokens, ...(audio === null ? {} : { audio }), ...searches };
}

/** Whether a member is present and not a count. */
const isInvalidCount = (value: unknown): boolean => value !== undefined && value !== null && count(value) === null;

/** Perplexity's counts of searches and of citation tokens. Null when both are 0. */
function searchesAndCitations(usage: Fields): Pick<Usage, 'webSearches' | 'searchSize' | 'citationTokens'> | null {
  const webSearches = count(usage['num_search_queries']) ?? 0;
  const citationTokens = count(usage['citation_tokens']) ?? 0;
  if (webSearches === 0 && citationTokens === 0) return null;
  const size = usage['search_context_size'];
  // An absent size means medium.
  return {
    ...(webSearches === 0 ? {} : { webSearches }),
    ...(webSearches > 0 && (size === 'low' || size === 'high') ? { searchSize: size } : {}),
    ...(citationTokens === 0 ? {} : { citationTokens }),
  };
}

/** Audio tokens. Null when there are none. Vendors do not report cached audio tokens. */
function audioOf(prompt: Fields, completion: Fields): AudioTokens | null {
  const inputTokens = count(prompt['audio_tokens']) ?? 0;
  const outputTokens = count(completion['audio_tokens']) ?? 0;
  return inputTokens + outputTokens === 0 ? null : { inputTokens, outputTokens, cacheReadTokens: 0 };
}

/** Usage of an answer without generated text, for example embeddings: all of `total_tokens` is input. */
function inputOnlyUsage(value: unknown): Usage | null {
  const inputTokens = count(object(value)['total_tokens']);
  return inputTokens === null
    ? null
    : { inputTokens, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
}

/**
 * Cost in USD that an answer reports. Undefined when it reports no valid cost. Includes the cost of a call with the
 * customer's own key at the model vendor (BYOK), which the vendor bills separately.
 */
export function chargedOf(answer: unknown): Usd | undefined {
  const usage = object(object(answer)['usage']);
  const cost = number(usage['cost']) ?? number(object(usage['cost'])['total_cost']);
  if (cost === null || cost < 0) return undefined;
  const byokCost =
    usage['is_byok'] === true ? (number(object(usage['cost_details'])['upstream_inference_cost']) ?? 0) : 0;
  const charged = usdFrom(cost);
  const byokCharged = usdFrom(Math.max(0, byokCost));
  return charged === null || byokCharged === null ? undefined : addUsd(charged, byokCharged);
}

/** Billed search units of a rerank answer, in Cohere's format. Null when it reports none. */
export function searchUnitsOf(value: unknown): number | null {
  return count(object(object(object(value)['meta'])['billed_units'])['search_units']);
}

/** Error of a body, in any of the known forms. Null when there is none. */
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

/** Whether a chunk contains only usage: no choices or, from some gateways, only empty choices. */
export function isUsageChunk(value: unknown): boolean {
  const { choices, usage } = object(value);
  return Array.isArray(choices) && choices.every(isEmptyChoice) && isJsonObject(usage);
}

function isEmptyChoice(choice: unknown): boolean {
  const { delta, text: piece, finish_reason: reason } = object(choice);
  const isDeltaEmpty = Object.values(object(delta)).every((member) => member === null);
  return (reason ?? null) === null && (piece ?? '') === '' && isDeltaEmpty;
}

/** Deltas of the first choice in one chunk of a stream, in order. */
export function deltasOfChunk(value: unknown): readonly ChatDelta[] {
  return deltasOf(value, 'delta');
}

/** Deltas of the first choice of a complete answer, as a stream would have them. */
export function deltasOfAnswer(value: unknown): readonly ChatDelta[] {
  return deltasOf(value, 'message');
}

function deltasOf(value: unknown, part: 'delta' | 'message'): readonly ChatDelta[] {
  const answer = object(value);
  const deltas: ChatDelta[] = [];
  // Other choices (with `n` > 1) are only forwarded as bytes.
  const choice = object(list(answer['choices']).find((one) => (object(one)['index'] ?? 0) === 0));
  const message = object(choice[part]);
  const reasoning = text(message['reasoning_content']) ?? text(message['reasoning']) ?? '';
  if (reasoning !== '') deltas.push({ kind: 'reasoning', text: reasoning });
  const content = text(message['content']) ?? text(message['refusal']) ?? text(choice['text']) ?? '';
  if (content !== '') deltas.push({ kind: 'text', text: content });
  for (const item of list(message['content'])) deltas.push(...deltasOfPart(object(item)));
  list(message['tool_calls']).forEach((item, position) => {
    const call = object(item);
    const calledFunction = object(call['function']);
    deltas.push({
      kind: 'toolCall',
      index: count(call['index']) ?? position,
      id: text(call['id']),
      name: text(calledFunction['name']),
      arguments: text(calledFunction['arguments']) ?? '',
    });
  });
  const reason = text(choice['finish_reason']);
  if (reason !== null) deltas.push({ kind: 'finish', reason });
  const usage = usageIn(answer);
  if (usage !== null) deltas.push({ kind: 'usage', usage });
  return deltas;
}

/** Deltas of one part of a content array. Reasoning models of Mistral answer with parts of text and thinking. */
function deltasOfPart(part: Fields): readonly ChatDelta[] {
  const isThinking = part['type'] === 'thinking';
  const words = isThinking ? thinkingText(part['thinking']) : (text(part['text']) ?? '');
  return words === '' ? [] : [{ kind: isThinking ? 'reasoning' : 'text', text: words }];
}

/** Text of a `thinking` member: a string, or a list of text parts. */
const thinkingText = (thinking: unknown): string =>
  text(thinking) ??
  list(thinking)
    .map((item) => text(object(item)['text']) ?? '')
    .join('');

/** Names of the tools that the first choice of a chunk or of an answer calls. */
export function toolNamesOf(value: unknown, part: 'delta' | 'message'): readonly string[] {
  const choice = object(list(object(value)['choices'])[0]);
  return list(object(choice[part])['tool_calls']).flatMap((call) => {
    const named = object(call);
    return text(object(named['function'] ?? named['custom'])['name']) ?? [];
  });
}

/** Generated text of a delta: text, or name and arguments of a tool call. Empty for other deltas. */
export function textOfDelta(delta: ChatDelta): string {
  if (delta.kind === 'text') return delta.text;
  return delta.kind === 'toolCall' ? `${delta.name ?? ''}${delta.arguments}` : '';
}
