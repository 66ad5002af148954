import { attributeText, firstText, textAt } from '../attribute-text.ts';
import type { Attributes, RawSpan, SpanType } from '../span.ts';
import { conversationOf, latestUserText, type Message, parseStructure } from './conversation.ts';

/** What a span's input or output was found to be, and the attributes it was found in. */
export interface Lifted {
  readonly text: string;
  /** What a person would want to see first of it. */
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
  /** Where each fact stands; the first that is present counts. */
  readonly agentKeys: readonly string[];
  readonly modelKeys: readonly string[];
  readonly inputTokenKeys: readonly string[];
  readonly outputTokenKeys: readonly string[];
  readonly responseIdKeys: readonly string[];
  input(span: RawSpan, type: SpanType): Lifted | null;
  output(span: RawSpan, type: SpanType): Lifted | null;
}

const MAX_TOKENS = 2 ** 32 - 1;

/** A root that says nothing of itself may be an agent; anything else is a step of one. */
export const undeclaredType = ({ parentSpanId }: RawSpan): SpanType => (parentSpanId === null ? 'agent' : 'chain');

/** Text as it stands. */
export function plain(text: string, keys: readonly string[]): Lifted {
  return { text, preview: text, keys };
}

/** Messages in the common form. */
export function conversation(messages: readonly Message[], keys: readonly string[]): Lifted {
  const text = JSON.stringify(messages);
  return { text, preview: latestUserText(messages) ?? text, keys };
}

/** The first text that is not empty: in the common form where it is a conversation, else as it stands. */
export function firstConversation(attributes: Attributes, keys: readonly string[]): Lifted | null {
  const found = firstText(attributes, keys);
  if (found === null) return null;
  const messages = conversationOf(parseStructure(found.text));
  return messages === null ? plain(found.text, [found.key]) : conversation(messages, [found.key]);
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

/**
 * A token count. One that is no whole number between 0 and 2^32-1 counts as 0 and stays among the attributes
 * as it was sent: a span is worth more than its count.
 */
export function tokens(attributes: Attributes, keys: readonly string[]): number {
  const key = keys.find((candidate) => attributes[candidate] !== undefined);
  if (key === undefined) return 0;
  const value = attributes[key] ?? null;
  const count = typeof value === 'number' ? value : digits(attributeText(value));
  return Number.isInteger(count) && count >= 0 && count <= MAX_TOKENS ? count : 0;
}

const digits = (text: string): number => (/^\s*\d{1,10}\s*$/.test(text) ? Number(text) : 0);
