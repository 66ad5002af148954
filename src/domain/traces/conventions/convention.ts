import { isJsonObject } from '../../json-object.ts';
import { attributeText, firstText, textAt } from '../attribute-text.ts';
import type { Attributes, RawSpan, SpanType } from '../span.ts';
import { GEN_AI } from './gen-ai-attributes.ts';
import { conversationOf, latestUserText, type Message, parseStructure } from './conversation.ts';
import { latestUserTextIn } from './plain-messages.ts';

type Text = string | readonly Message[];

/** Input or output of a span, and the attributes that it comes from. */
export interface SpanText {
  /**
   * Plain text, or messages in the common form, or a function that returns either. `textOf` returns any of them as
   * text.
   */
  readonly content: Text | (() => Text);
  /** Text that begins with the preview. It may be longer than `PREVIEW_LENGTH`. */
  readonly preview: string;
  /** Keys of the attributes that are not stored again, because `content` has all of their values. */
  readonly keys: readonly string[];
}

/** A semantic convention of spans. A new convention is a new file with one such object. */
export interface Convention {
  readonly name: string;
  /** Whether a span follows it. The first convention in the list that matches applies. */
  recognises(span: RawSpan): boolean;
  type(span: RawSpan): SpanType;
  /** Agent name by this convention, which precedes `AGENT_KEYS`; null when the span names none. */
  agent(span: RawSpan): string | null;
  /** Attribute keys of the model. Here and in `responseIdKeys`, the first key whose value is not blank counts. */
  readonly modelKeys: readonly string[];
  /** The model, where no key has it. */
  model?(attributes: Attributes): string | null;
  readonly responseIdKeys: readonly string[];
  /** The id of the answer, where no key has it. */
  responseId?(attributes: Attributes): string | null;
  inputTokens(attributes: Attributes): number;
  outputTokens(attributes: Attributes): number;
  /** Attribute keys of parts of the counts above. The first key that is present is read. */
  readonly cacheReadTokenKeys: readonly string[];
  readonly cacheWriteTokenKeys: readonly string[];
  readonly reasoningTokenKeys: readonly string[];
  input(span: RawSpan, type: SpanType): SpanText | null;
  output(span: RawSpan, type: SpanType): SpanText | null;
}

/** Length of a preview, in UTF-16 units. */
export const PREVIEW_LENGTH = 240;

const MAX_TOKENS = 2 ** 32 - 1;

/** Attributes that name the agent of a span, in any convention. */
export const AGENT_KEYS = [GEN_AI.agentName, 'agent.name', 'openclaw.agent', 'langsmith.metadata.lc_agent_name'];

/**
 * Type of a span that declares none: a root that names an agent is a run of it, any other span is a step. `agent` is
 * the agent name by the convention.
 */
export function undeclaredType({ parentSpanId, attributes, resource }: RawSpan, agent: string | null): SpanType {
  if (parentSpanId !== null) return 'chain';
  const name = agent ?? firstValue(attributes, AGENT_KEYS) ?? firstValue(resource.attributes, [GEN_AI.agentName]);
  return name === null ? 'chain' : 'agent';
}

export function plainText(text: string, keys: readonly string[]): SpanText {
  return { content: text, preview: text, keys };
}

/** The span text of messages in the common form. */
export function conversation(messages: readonly Message[], keys: readonly string[]): SpanText {
  return { content: messages, preview: latestUserText(messages) ?? JSON.stringify(messages), keys };
}

/** Content as stored text. It is made only on demand, because ingest needs just the preview. */
export function textOf(spanText: SpanText): string {
  const content = typeof spanText.content === 'function' ? spanText.content() : spanText.content;
  return typeof content === 'string' ? content : JSON.stringify(content);
}

/** The first text that is not empty: in the common form where it is a conversation, else unchanged. */
export function firstConversation(attributes: Attributes, keys: readonly string[]): SpanText | null {
  const found = firstText(attributes, keys);
  if (found === null) return null;
  const { text, key } = found;
  const parsed = (): readonly Message[] | null => conversationOf(parseStructure(text));
  // One unit more than a preview has: the code that shortens the preview then sees whether it splits a character.
  const preview = latestUserTextIn(text, PREVIEW_LENGTH + 1);
  if (preview !== null) return { content: () => parsed() ?? text, preview, keys: [key] };
  const messages = parsed();
  return messages === null ? plainText(text, [key]) : conversation(messages, [key]);
}

/**
 * The first text that is not empty. It may be an object with messages, `{ "messages": [...] }`, also inside `inputs` or
 * `outputs`. The messages are one conversation, or a batch of which the first is read. The attribute of a conversation
 * is also stored as such, unless its value is this conversation and no more.
 */
export function firstPacked(attributes: Attributes, keys: readonly string[]): SpanText | null {
  const found = firstText(attributes, keys);
  if (found === null) return null;
  const packed = unpacked(parseStructure(found.text));
  const messages = conversationOf(packed.messages);
  if (messages === null) return plainText(found.text, [found.key]);
  return conversation(messages, packed.isComplete ? [found.key] : []);
}

function unpacked(value: unknown): { readonly messages: unknown; readonly isComplete: boolean } {
  if (!isJsonObject(value)) return { messages: value, isComplete: true };
  const inner = value['inputs'] ?? value['outputs'] ?? value;
  if (!isJsonObject(inner) || !Array.isArray(inner['messages'])) return { messages: value, isComplete: true };
  const messages = inner['messages'] as readonly unknown[];
  const isBatch = Array.isArray(messages[0]);
  const isComplete = inner === value && Object.keys(inner).length === 1 && (!isBatch || messages.length === 1);
  return { messages: isBatch ? messages[0] : messages, isComplete };
}

/** The first text that is not empty, unchanged. */
export function firstPlain(attributes: Attributes, keys: readonly string[]): SpanText | null {
  const found = firstText(attributes, keys);
  return found === null ? null : plainText(found.text, [found.key]);
}

/** The first of these values that is not blank, trimmed; null when all are blank. */
export function firstValue(attributes: Attributes, keys: readonly string[]): string | null {
  for (const key of keys) {
    const text = textAt(attributes, key).trim();
    if (text !== '') return text;
  }
  return null;
}

/** The token count under the first key that is present; null when none is. */
export function tokenCount(attributes: Attributes, keys: readonly string[]): number | null {
  const key = keys.find((candidate) => attributes[candidate] !== undefined);
  if (key === undefined) return null;
  const value = attributes[key] ?? null;
  return tokensIn(typeof value === 'number' ? value : countInText(attributeText(value)));
}

/**
 * A token count. A value that is not a whole number between 0 and 2^32-1 counts as 0 and stays among the attributes. A
 * span with an invalid count is not refused.
 */
export const tokensIn = (count: number): number =>
  Number.isInteger(count) && count >= 0 && count <= MAX_TOKENS ? count : 0;

/** Returns a function that reads the count under the first of these keys that is present; 0 without any. */
export const countReader =
  (...keys: readonly string[]) =>
  (attributes: Attributes): number =>
    tokenCount(attributes, keys) ?? 0;

/**
 * Returns a function that reads the agent name under the first of these keys whose value is not blank; null without
 * one.
 */
export const agentNameReader =
  (...keys: readonly string[]) =>
  ({ attributes }: RawSpan): string | null =>
    firstValue(attributes, keys);

const countInText = (text: string): number => (/^\s*\d{1,10}\s*$/.test(text) ? Number(text) : 0);
