import { isJsonObject } from '../../json-object.ts';
import { textAt } from '../attribute-text.ts';
import type { RawSpan, SpanType } from '../span.ts';
import { asText, type Message, messageOf, parseStructure } from './conversation.ts';
import {
  type Convention,
  conversation,
  countReader,
  firstConversation,
  firstPlain,
  type SpanText,
  plainText,
  undeclaredType,
} from './convention.ts';
import { flattenedConversation, type FlattenedForm } from './flattened.ts';
import {
  GEN_AI,
  GEN_AI_EVENTS,
  GEN_AI_INPUT_TOKENS,
  GEN_AI_OPERATIONS,
  GEN_AI_OUTPUT_TOKENS,
  GEN_AI_TOKEN_PARTS,
} from './gen-ai-attributes.ts';

/** Flattened form of messages in GenAI conventions: `<prefix>.<index>.<field>`. */
export const indexedForm = (prefix: string, defaultRole: string): FlattenedForm => ({
  prefix,
  defaultRole,
  role: 'role',
  content: 'content',
  name: 'name',
  // Matches no key of a message: contents are not flattened further.
  part: /^$/,
  toolCall: /^tool_calls\.(\d+)\.(id|name|arguments)$/,
});
const PROMPTS = indexedForm(GEN_AI.prompt, 'user');
const COMPLETIONS = indexedForm(GEN_AI.completion, 'assistant');

const isOperation = (name: string): name is keyof typeof GEN_AI_OPERATIONS => Object.hasOwn(GEN_AI_OPERATIONS, name);
const isMessageEvent = (name: string): name is keyof typeof GEN_AI_EVENTS => Object.hasOwn(GEN_AI_EVENTS, name);

/** The OpenTelemetry GenAI semantic conventions, in their newer and older forms. Reads any span. */
export const genAi: Convention = {
  name: 'gen_ai',
  recognises: () => true,
  type(span): SpanType {
    const operation = textAt(span.attributes, GEN_AI.operationName);
    if (isOperation(operation)) return GEN_AI_OPERATIONS[operation];
    // Older instrumentations name only the model.
    return operation === '' && textAt(span.attributes, GEN_AI.requestModel) !== '' ? 'llm' : undeclaredType(span, null);
  },
  agent: () => null,
  modelKeys: [GEN_AI.requestModel, GEN_AI.responseModel],
  responseIdKeys: [GEN_AI.responseId],
  inputTokens: countReader(...GEN_AI_INPUT_TOKENS),
  outputTokens: countReader(...GEN_AI_OUTPUT_TOKENS),
  cacheReadTokenKeys: GEN_AI_TOKEN_PARTS.cacheRead,
  cacheWriteTokenKeys: GEN_AI_TOKEN_PARTS.cacheWrite,
  reasoningTokenKeys: GEN_AI_TOKEN_PARTS.reasoning,
  input: ({ attributes, events }, type) =>
    firstConversation(attributes, [GEN_AI.inputMessages]) ??
    firstPlain(attributes, [GEN_AI.toolArguments, GEN_AI.retrievalQuery]) ??
    firstConversation(attributes, [GEN_AI.prompt]) ??
    flattenedConversation(attributes, PROMPTS) ??
    (type === 'tool' ? toolEvent(events, 'gen_ai.tool.message') : fromEvents(events, 'input')),
  output: ({ attributes, events }, type) =>
    firstConversation(attributes, [GEN_AI.outputMessages]) ??
    firstPlain(attributes, [GEN_AI.toolResult, GEN_AI.retrievalDocuments]) ??
    firstConversation(attributes, [GEN_AI.completion]) ??
    flattenedConversation(attributes, COMPLETIONS) ??
    (type === 'tool' ? toolEvent(events, 'gen_ai.choice') : fromEvents(events, 'output')),
};

/** The messages among the events of a span. They also stay in the events, which have their own times. */
function fromEvents(events: RawSpan['events'], side: 'input' | 'output'): SpanText | null {
  const messages = events.flatMap((event): readonly Message[] => {
    if (!isMessageEvent(event.name)) return [];
    const { role, side: eventSide } = GEN_AI_EVENTS[event.name];
    return eventSide === side ? [eventMessage(event.attributes, role)] : [];
  });
  return messages.length === 0 ? null : conversation(messages, []);
}

/** Input or output of a tool span, from its first event with this name. */
function toolEvent(events: RawSpan['events'], name: 'gen_ai.tool.message' | 'gen_ai.choice'): SpanText | null {
  const found = events.find((event) => event.name === name);
  return found === undefined ? null : plainText(eventMessage(found.attributes, 'tool').content, []);
}

/** The body of an event is JSON in one attribute, or flattened into several. */
function eventMessage(attributes: RawSpan['attributes'], role: string): Message {
  const packed = textAt(attributes, GEN_AI.eventContent);
  const parsed = parseStructure(packed);
  if (isJsonObject(parsed)) {
    const body = isJsonObject(parsed['message']) ? parsed['message'] : parsed;
    return messageOf({ role, ...body }) ?? { role, content: asText(body) };
  }
  const text =
    packed ||
    textAt(attributes, 'content') ||
    textAt(attributes, 'message') ||
    textAt(attributes, GEN_AI.prompt) ||
    textAt(attributes, GEN_AI.completion);
  const ownRole = textAt(attributes, 'role') || role;
  // The text may be a JSON list of parts.
  return messageOf({ role: ownRole, content: listIn(text) }) ?? { role: ownRole, content: text };
}

function listIn(text: string): unknown {
  const parsed = parseStructure(text);
  return Array.isArray(parsed) ? parsed : text;
}
