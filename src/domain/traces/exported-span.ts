import { usdNumber } from '../money.ts';
import { conversationOf, type Message, parseStructure } from './conventions/conversation.ts';
import { GEN_AI } from './conventions/gen-ai-attributes.ts';
import type { AttributeValue, RawSpan, Span } from './span.ts';

/** A span of the gateway for export, with typed attributes of the GenAI conventions. */
export type ExportedSpan = Pick<
  RawSpan,
  | 'traceId'
  | 'spanId'
  | 'parentSpanId'
  | 'name'
  | 'kind'
  | 'startNs'
  | 'endNs'
  | 'status'
  | 'statusMessage'
  | 'attributes'
>;

/** Attributes that are numbers or lists. Stored attributes are text. */
const NUMBERS: ReadonlySet<string> = new Set([GEN_AI.inputTokens, GEN_AI.outputTokens]);
const LISTS: ReadonlySet<string> = new Set([GEN_AI.finishReasons]);
const COST = 'gen_ai.usage.cost';
const TEAM = 'litellm.team_id';

/**
 * A span of the gateway for an outside collector. It includes prompts and answers when the span has them. Of the owner
 * it names only the team, never a key.
 */
export function exportedSpan(span: Span, teamId: string | null): ExportedSpan {
  const { traceId, spanId, parentSpanId, name, kind, startNs, endNs, status } = span;
  const attributes: Record<string, AttributeValue> = typedAttributes(span.attributes);
  if (span.cost !== null) attributes[COST] = usdNumber(span.cost);
  if (teamId !== null) attributes[TEAM] = teamId;
  if (span.input !== '') attributes[GEN_AI.inputMessages] = messagesText(span.input, 'user');
  if (span.output !== '') attributes[GEN_AI.outputMessages] = messagesText(span.output, 'assistant');
  const statusMessage = status === 'error' ? (span.error ?? '') : '';
  return { traceId, spanId, parentSpanId, name, kind, startNs, endNs, status, statusMessage, attributes };
}

function typedAttributes(texts: Readonly<Record<string, string>>): Record<string, AttributeValue> {
  const attributes: Record<string, AttributeValue> = {};
  for (const [key, text] of Object.entries(texts)) attributes[key] = typed(key, text);
  return attributes;
}

function typed(key: string, text: string): AttributeValue {
  if (NUMBERS.has(key) && /^\d+$/.test(text)) return Number(text);
  const list = LISTS.has(key) ? parseStructure(text) : undefined;
  return Array.isArray(list) ? list.map(String) : text;
}

/** A conversation in parts, as the conventions have it; any other text as one message. */
function messagesText(text: string, role: string): string {
  const messages = conversationOf(parseStructure(text)) ?? [{ role, content: text }];
  return JSON.stringify(messages.map(({ role: speaker, ...message }) => ({ role: speaker, parts: partsOf(message) })));
}

const partsOf = ({ content, tool_calls: calls = [] }: Omit<Message, 'role'>): readonly unknown[] => [
  ...(content === '' ? [] : [{ type: 'text', content }]),
  ...calls.map((call) => ({ type: 'tool_call', ...call })),
];
