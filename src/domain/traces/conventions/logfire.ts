import { isJsonObject } from '../../json-object.ts';
import { firstText, textAt } from '../attribute-text.ts';
import type { Attributes, SpanType } from '../span.ts';
import {
  type Convention,
  conversation,
  firstConversation,
  firstPlain,
  type SpanText,
  agentNameReader,
} from './convention.ts';
import { listOf, type Message, messageOf, parseStructure } from './conversation.ts';
import { genAi } from './gen-ai.ts';
import { GEN_AI, GEN_AI_EVENTS } from './gen-ai-attributes.ts';

const SPAN_TYPE = 'logfire.span_type';
/** Attributes with the whole conversation of an agent, as versions of Pydantic AI name them. */
const AGENT_RECORDS = ['pydantic_ai.all_messages', 'all_messages_events'];
/** All attributes with a whole conversation. The general name `events` alone does not mark a span. */
const RECORDS = [...AGENT_RECORDS, 'events'];
const MARKER_KEYS = [SPAN_TYPE, 'logfire.msg', ...AGENT_RECORDS];

/** Logfire's SDK, and Pydantic AI's agents. */
export const logfire: Convention = {
  name: 'logfire',
  recognises: ({ attributes, instrumentationScope: { name } }) =>
    name === 'pydantic-ai' || MARKER_KEYS.some((key) => attributes[key] !== undefined),
  type(span): SpanType {
    const { attributes } = span;
    const declared = textAt(attributes, GEN_AI.operationName) !== '' || textAt(attributes, GEN_AI.requestModel) !== '';
    if (declared) return genAi.type(span);
    // Earlier versions of Pydantic AI declare no operation.
    if (firstText(attributes, AGENT_RECORDS) !== null) return 'agent';
    if (textAt(attributes, GEN_AI_TOOL_NAME) !== '') return 'tool';
    // A log line without a parent is not an agent run.
    return textAt(attributes, SPAN_TYPE) === 'log' ? 'chain' : genAi.type(span);
  },
  agent: agentNameReader(GEN_AI.agentName, 'agent_name'),
  modelKeys: [...genAi.modelKeys, 'model_name'],
  responseIdKeys: genAi.responseIdKeys,
  inputTokens: genAi.inputTokens,
  outputTokens: genAi.outputTokens,
  // No further keys: those of `genAi` are read on every span.
  cacheReadTokenKeys: [],
  cacheWriteTokenKeys: [],
  reasoningTokenKeys: [],
  input: (span, type) =>
    genAi.input(span, type) ??
    recorded(span.attributes, 'input') ??
    firstConversation(span.attributes, ['prompt', 'tool_arguments']),
  output: (span, type) =>
    genAi.output(span, type) ??
    recorded(span.attributes, 'output') ??
    firstPlain(span.attributes, ['final_result', 'tool_response']),
};

const GEN_AI_TOOL_NAME = 'gen_ai.tool.name';

/** One side of a whole conversation: the last answer, or all messages before it. */
function recorded(attributes: Attributes, side: 'input' | 'output'): SpanText | null {
  const record = firstText(attributes, RECORDS);
  if (record === null) return null;
  const messages: Message[] = [];
  for (const entry of listOf(parseStructure(record.text))) {
    const message = recordedMessage(entry);
    if (message === null) return null;
    messages.push(message);
  }
  // Index of the answer, or the number of messages when the last one is no answer.
  const answerIndex = messages.at(-1)?.role === 'assistant' ? messages.length - 1 : messages.length;
  const wanted = side === 'input' ? messages.slice(0, answerIndex) : messages.slice(answerIndex);
  return wanted.length === 0 ? null : conversation(wanted, [record.key]);
}

/** A message from a record: the message itself, or an event that has it. Null for any other entry. */
function recordedMessage(entry: unknown): Message | null {
  if (!isJsonObject(entry)) return null;
  const name = entry['event.name'];
  const event = Object.entries(GEN_AI_EVENTS).find(([known]) => known === name)?.[1];
  const body = isJsonObject(entry['message']) ? entry['message'] : entry;
  return messageOf(event ? { role: event.role, content: '', ...body } : body);
}
