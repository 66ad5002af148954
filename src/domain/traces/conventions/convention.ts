import { attributeText, firstText, textAt } from '../attribute-text.ts';
import type { Attributes, RawSpan, SpanType } from '../span.ts';
import { GEN_AI } from './gen-ai-attributes.ts';
import { conversationOf, isJson, latestUserText, type Message, parseStructure } from './conversation.ts';
import { latestUserTextIn } from './plain-messages.ts';

type Said = string | readonly Message[];

/** What a span's input or output was found to be, and the attributes it was found in. */
export interface Lifted {
  /** Text as it stands, or messages in the common form, perhaps still to be made; `textOf` gives any as text. */
  readonly said: Said | (() => Said);
  /** What a person would want to see first of it, and more than `PREVIEW_LENGTH` of it where there is more. */
  readonly preview: string;
  /** Attributes that need not be kept a second time. */
  readonly keys: readonly string[];
}

/** One way of saying what a span means. A new one is a new file with one of these. */
export interface Convention {
  readonly name: string;
  /** Whether a span speaks it; of several the first listed is taken. */
  recognises(span: RawSpan): boolean;
  type(span: RawSpan): SpanType;
  /** The agent this convention names; what any convention may call it is asked after. Null when it names none. */
  agent(span: RawSpan): string | null;
  /** Where each fact stands; the first that is present counts. */
  readonly modelKeys: readonly string[];
  /** The model where none of these keys has it. */
  model?(attributes: Attributes): string | null;
  readonly responseIdKeys: readonly string[];
  /** The answer's id where none of these keys has it. */
  responseId?(attributes: Attributes): string | null;
  inputTokens(attributes: Attributes): number;
  outputTokens(attributes: Attributes): number;
  /** Parts of the counts above, by what became of them. */
  readonly cacheReadTokenKeys: readonly string[];
  readonly cacheWriteTokenKeys: readonly string[];
  readonly reasoningTokenKeys: readonly string[];
  input(span: RawSpan, type: SpanType): Lifted | null;
  output(span: RawSpan, type: SpanType): Lifted | null;
}

/** UTF-16 units of an input that are kept to be shown. */
export const PREVIEW_LENGTH = 240;

const MAX_TOKENS = 2 ** 32 - 1;

/** Attributes that name the agent of a span, whatever its convention. */
export const AGENT_KEYS = [GEN_AI.agentName, 'agent.name', 'openclaw.agent', 'langsmith.metadata.lc_agent_name'];

/**
 * Type of a span that declares none: a root that names an agent is its run, any other span is a step. `agent` is the name
 * by the convention.
 */
export function undeclaredType({ parentSpanId, attributes, resource }: RawSpan, agent: string | null): SpanType {
  if (parentSpanId !== null) return 'chain';
  const named = agent ?? firstValue(attributes, AGENT_KEYS) ?? firstValue(resource.attributes, [GEN_AI.agentName]);
  return named === null ? 'chain' : 'agent';
}

/** Text as it stands. */
export function plain(text: string, keys: readonly string[]): Lifted {
  return { said: text, preview: text, keys };
}

/** Messages in the common form. */
export function conversation(messages: readonly Message[], keys: readonly string[]): Lifted {
  return { said: messages, preview: latestUserText(messages) ?? JSON.stringify(messages), keys };
}

/** What was said as it is stored. Made apart from the rest: of what comes in, only the preview is looked at. */
export function textOf({ said: found }: Lifted): string {
  const said = typeof found === 'function' ? found() : found;
  return typeof said === 'string' ? said : JSON.stringify(said);
}

/** The first text that is not empty: in the common form where it is a conversation, else as it stands. */
export function firstConversation(attributes: Attributes, keys: readonly string[]): Lifted | null {
  const found = firstText(attributes, keys);
  if (found === null) return null;
  const { text, key } = found;
  const parsed = (): readonly Message[] | null => conversationOf(parseStructure(text));
  // One more, so that who cuts it sees whether that is in the middle of a character.
  const preview = latestUserTextIn(text, PREVIEW_LENGTH + 1);
  if (preview !== null) return { said: () => parsed() ?? text, preview, keys: [key] };
  const messages = parsed();
  return messages === null ? plain(text, [key]) : conversation(messages, [key]);
}

/**
 * The first text that is not empty, also when its messages are packed into an object: `{ "messages": [...] }`, in
 * one conversation or as a batch of them, and that perhaps in `inputs` or `outputs`. Where an object says more than
 * its messages do, its attribute is kept.
 */
export function firstPacked(attributes: Attributes, keys: readonly string[]): Lifted | null {
  const found = firstText(attributes, keys);
  if (found === null) return null;
  const packed = unpacked(parseStructure(found.text));
  const messages = conversationOf(packed.messages);
  if (messages === null) return plain(found.text, [found.key]);
  return conversation(messages, packed.whole ? [found.key] : []);
}

function unpacked(value: unknown): { readonly messages: unknown; readonly whole: boolean } {
  if (!isJson(value)) return { messages: value, whole: true };
  const inner = value['inputs'] ?? value['outputs'] ?? value;
  if (!isJson(inner) || !Array.isArray(inner['messages'])) return { messages: value, whole: true };
  const messages = inner['messages'] as readonly unknown[];
  const isBatch = Array.isArray(messages[0]);
  const whole = inner === value && Object.keys(inner).length === 1 && (!isBatch || messages.length === 1);
  return { messages: isBatch ? messages[0] : messages, whole };
}

/** The first text that is not empty, as it stands. */
export function firstPlain(attributes: Attributes, keys: readonly string[]): Lifted | null {
  const found = firstText(attributes, keys);
  return found === null ? null : plain(found.text, [found.key]);
}

/** The first of these that says something; null when none does. */
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
  return tokensIn(typeof value === 'number' ? value : digits(attributeText(value)));
}

/**
 * A token count. One that is no whole number between 0 and 2^32-1 counts as 0 and stays among the attributes
 * as it was sent: a span is worth more than its count.
 */
export const tokensIn = (count: number): number =>
  Number.isInteger(count) && count >= 0 && count <= MAX_TOKENS ? count : 0;

/** Reads the count under the first of these keys that is present. */
export const counted =
  (...keys: readonly string[]) =>
  (attributes: Attributes): number =>
    tokenCount(attributes, keys) ?? 0;

/** Names the agent by the first of these keys that says something. */
export const named =
  (...keys: readonly string[]) =>
  ({ attributes }: RawSpan): string | null =>
    firstValue(attributes, keys);

const digits = (text: string): number => (/^\s*\d{1,10}\s*$/.test(text) ? Number(text) : 0);
