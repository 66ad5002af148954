import type { AssistantPart, Losses, NeutralChat, NeutralMessage, UserPart } from '../../domain/chat/neutral-chat.ts';
import { effortOf } from '../../domain/chat/reasoning.ts';
import type { RequestBody } from '../../domain/inference/request-validation.ts';
import { withoutNulls } from '../json/fields.ts';

/** Maximum number of stop sequences of a request. */
const MAX_STOPS = 4;
/** Start of the next user turn. As a stop sequence, it ends the answer before the model writes that turn. */
const NEXT_TURN = '\nUser:';

/** Writes a neutral chat as a completions request. Adds unsupported parts to `losses`. */
export function writeCompletion(chat: NeutralChat, losses: Losses, { maxTokens }: CompletionForm): RequestBody {
  noteUnsupported(chat, losses);
  const texts = chat.messages.map((message, index) => textOf(message, `messages[${index}]`, losses));
  const isConversation = chat.messages.filter(({ role }) => role !== 'system').length > 1;
  const prompt = isConversation ? conversationOf(chat.messages, texts) : texts.join('\n\n');
  const stop = isConversation && chat.stop.length < MAX_STOPS ? [...chat.stop, NEXT_TURN] : chat.stop;
  return withoutNulls({
    model: chat.model,
    prompt,
    stream: chat.stream ? true : null,
    stream_options: chat.stream ? { include_usage: true } : null,
    max_tokens: chat.maxOutputTokens ?? maxTokens,
    temperature: chat.temperature,
    top_p: chat.topP,
    stop: stop.length === 0 ? null : stop,
    seed: chat.seed,
    frequency_penalty: chat.frequencyPenalty,
    presence_penalty: chat.presencePenalty,
    user: chat.endUser,
  });
}

/** Settings of upstreams with this dialect. */
export interface CompletionForm {
  /** Maximum output tokens when the caller sets no limit. Null leaves the limit to the upstream. */
  readonly maxTokens: number | null;
}

function noteUnsupported(chat: NeutralChat, losses: Losses): void {
  const { toolChoice, outputForm, reasoning } = chat;
  if (chat.topK !== null) losses.essential('top_k');
  if (chat.tools.length > 0 && toolChoice?.mode !== 'none') losses.essential('tools');
  if (toolChoice?.mode === 'required' || toolChoice?.mode === 'tool') losses.essential('tool_choice');
  if (outputForm !== null && outputForm.form !== 'text') losses.essential('response_format');
  const effort = reasoning === null ? null : effortOf(reasoning);
  if (effort !== null && effort !== 'none') losses.essential('reasoning_effort');
}

/**
 * Prompt with a speaker label for each user and assistant turn. When the last turn is the assistant's, the model
 * continues this turn. Otherwise the prompt ends with the assistant's label.
 */
function conversationOf(messages: readonly NeutralMessage[], texts: readonly string[]): string {
  const lines = messages.map(({ role }, index) => `${SPEAKERS[role]}${texts[index]}`);
  return messages.at(-1)?.role === 'assistant' ? lines.join('\n\n') : [...lines, 'Assistant:'].join('\n\n');
}

const SPEAKERS: Readonly<Record<NeutralMessage['role'], string>> = {
  system: '',
  user: 'User: ',
  assistant: 'Assistant: ',
  tool: '',
};

function textOf(message: NeutralMessage, where: string, losses: Losses): string {
  if (message.role === 'tool') {
    losses.essential(where);
    return '';
  }
  const texts = message.content.flatMap((part, index): readonly string[] => {
    const place = `${where}.content[${index}]`;
    if ('cached' in part && part.cached !== undefined) losses.hint(`${place}.cache_control`);
    if (part.kind === 'text' || part.kind === 'refusal') return [part.text];
    noteDropped(part, place, losses);
    return [];
  });
  return texts.join(message.role === 'assistant' ? '' : '\n');
}

/** Adds a dropped part to `losses`. Reasoning is only a hint, because it is of use only to the model that wrote it. */
function noteDropped({ kind }: UserPart | AssistantPart, place: string, losses: Losses): void {
  if (kind === 'reasoning') losses.hint(place);
  else losses.essential(place);
}
