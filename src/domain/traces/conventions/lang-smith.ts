import { isJsonObject } from '../../json-object.ts';
import { textAt } from '../attribute-text.ts';
import { type RawSpan, SPAN_TYPES, type SpanType } from '../span.ts';
import { asText, conversationOf, listOf, messageOf, parseStructure } from './conversation.ts';
import {
  type Convention,
  conversation,
  firstPlain,
  type SpanText,
  agentNameReader,
  plainText,
  textOf,
} from './convention.ts';
import { genAi } from './gen-ai.ts';
import { GEN_AI } from './gen-ai-attributes.ts';

const KIND = 'langsmith.span.kind';
const AGENT_NAME = 'langsmith.metadata.lc_agent_name';
/** Names of LangChain's middleware steps, which run around model and tool calls. */
const MIDDLEWARE = /\.(?:wrap_model_call|wrap_tool_call|before_agent|after_agent|before_model|after_model)$/;

/** LangSmith's OpenTelemetry export, which puts LangChain's own JSON into the prompt and completion. */
export const langSmith: Convention = {
  name: 'langsmith',
  recognises: ({ attributes, instrumentationScope }) =>
    instrumentationScope.name === 'langsmith' || attributes[KIND] !== undefined,
  type({ attributes, name, parentSpanId }): SpanType {
    const kind = textAt(attributes, KIND).trim().toLowerCase();
    if (kind !== '' && kind !== 'chain') return SPAN_TYPES.find((type) => type === kind) ?? 'chain';
    if (parentSpanId === null || name === textAt(attributes, AGENT_NAME)) return 'agent';
    return MIDDLEWARE.test(name) ? 'framework' : 'chain';
  },
  agent: agentNameReader(AGENT_NAME),
  modelKeys: [...genAi.modelKeys, 'langsmith.metadata.ls_model_name'],
  responseIdKeys: genAi.responseIdKeys,
  inputTokens: genAi.inputTokens,
  outputTokens: genAi.outputTokens,
  // No further keys: those of `genAi` are read on every span.
  cacheReadTokenKeys: [],
  cacheWriteTokenKeys: [],
  reasoningTokenKeys: [],
  input: ({ attributes }, type) => inputOf(attributes, type),
  output: ({ attributes }, type) => outputOf(attributes, type),
};

function inputOf(attributes: RawSpan['attributes'], type: SpanType): SpanText | null {
  const raw = firstPlain(attributes, [GEN_AI.prompt]);
  if (type !== 'llm' && type !== 'agent') return raw;
  const prompt = parseStructure(raw === null ? '' : textOf(raw));
  const messages = messagesIn(prompt);
  // A model call has a batch of conversations, of which the first is the input; an agent has one conversation.
  const isBatch = type === 'llm' && Array.isArray(messages[0]);
  const wanted = isBatch ? listOf(messages[0]) : messages;
  // The attribute is also stored, unless its value is this conversation and no more.
  const isComplete = hasOnlyMessages(prompt) && (!isBatch || messages.length === 1);
  const keys = isComplete ? [GEN_AI.prompt] : [];
  const common = conversationOf(wanted);
  if (common !== null) return conversation(common, keys);
  // A model call without messages has an empty list as its input.
  return type === 'llm' && wanted.length === 0 ? plainText('[]', keys) : raw;
}

function outputOf(attributes: RawSpan['attributes'], type: SpanType): SpanText | null {
  const raw = firstPlain(attributes, [GEN_AI.completion]);
  if (raw === null) return null;
  const parsed = parseStructure(textOf(raw));
  if (type === 'tool') return toolOutput(parsed) ?? raw;
  if (type !== 'llm' && type !== 'agent') return raw;
  const message = messageOf(type === 'llm' ? firstGeneration(parsed) : messagesIn(parsed).at(-1));
  return message === null ? raw : conversation([message], [GEN_AI.completion]);
}

const messagesIn = (value: unknown): readonly unknown[] => listOf(isJsonObject(value) ? value['messages'] : value);

/** Whether a prompt is a list of messages, or an object with `messages` and no other member. */
const hasOnlyMessages = (prompt: unknown): boolean =>
  Array.isArray(prompt) ||
  (isJsonObject(prompt) && Array.isArray(prompt['messages']) && Object.keys(prompt).length === 1);

function firstGeneration(value: unknown): unknown {
  const [first] = listOf(isJsonObject(value) ? value['generations'] : undefined);
  const generation = Array.isArray(first) ? listOf(first)[0] : first;
  return isJsonObject(generation) ? generation['message'] : undefined;
}

/** Result of a tool; for a LangGraph command the last message of its update. */
function toolOutput(value: unknown): SpanText | null {
  if (!isJsonObject(value) || value['output'] === undefined) return null;
  const { output } = value;
  const update = isJsonObject(output) && isJsonObject(output['update']) ? output['update'] : null;
  const message = update === null ? null : messageOf(messagesIn(update).at(-1));
  return plainText(message === null ? asText(output) : message.content, [GEN_AI.completion]);
}
