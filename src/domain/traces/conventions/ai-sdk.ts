import { isJsonObject, type JsonObject } from '../../json-object.ts';
import { textAt } from '../attribute-text.ts';
import type { Attributes, SpanType } from '../span.ts';
import {
  type Convention,
  conversation,
  countReader,
  firstPlain,
  type SpanText,
  agentNameReader,
  plainText,
  tokenCount,
  undeclaredType,
} from './convention.ts';
import { asText, conversationOf, listOf, type Message, messageOf, parseStructure } from './conversation.ts';
import { genAi } from './gen-ai.ts';
import { GEN_AI_INPUT_TOKENS, GEN_AI_OUTPUT_TOKENS } from './gen-ai-attributes.ts';

const OPERATION = 'ai.operationId';
const PROMPT = 'ai.prompt';
const MESSAGES = 'ai.prompt.messages';
const TEXT = 'ai.response.text';
const TOOL_CALLS = 'ai.response.toolCalls';

/**
 * Span type of each operation. An operation that ends in `.do…` is one model call. A text operation around such calls
 * repeats them until the model calls no tool. From version 7 on, the SDK names text operations agent invocations.
 */
const OPERATIONS: Readonly<Record<string, SpanType>> = {
  'ai.generateText': 'agent',
  'ai.streamText': 'agent',
  'ai.generateObject': 'agent',
  'ai.streamObject': 'agent',
  'ai.generateText.doGenerate': 'llm',
  'ai.streamText.doStream': 'llm',
  'ai.generateObject.doGenerate': 'llm',
  'ai.streamObject.doStream': 'llm',
  'ai.toolCall': 'tool',
  'ai.embed': 'embedding',
  'ai.embedMany': 'embedding',
  'ai.embed.doEmbed': 'embedding',
  'ai.embedMany.doEmbed': 'embedding',
  'ai.rerank': 'reranker',
  'ai.rerank.doRerank': 'reranker',
};

const functionId = agentNameReader('ai.telemetry.functionId');

/** The AI SDK's telemetry up to version 6; from version 7 on it follows the GenAI conventions. */
export const aiSdk: Convention = {
  name: 'ai-sdk',
  recognises: ({ attributes }) => attributes[OPERATION] !== undefined,
  type(span): SpanType {
    const operation = textAt(span.attributes, OPERATION);
    return (
      (Object.hasOwn(OPERATIONS, operation) ? OPERATIONS[operation] : undefined) ??
      undeclaredType(span, functionId(span))
    );
  },
  agent: functionId,
  modelKeys: [...genAi.modelKeys, 'ai.model.id', 'ai.response.model'],
  responseIdKeys: [...genAi.responseIdKeys, 'ai.response.id'],
  inputTokens: (attributes) => tokenCount(attributes, INPUT_TOKENS) ?? embeddedTokens(attributes),
  outputTokens: countReader(...GEN_AI_OUTPUT_TOKENS, 'ai.usage.outputTokens', 'ai.usage.completionTokens'),
  cacheReadTokenKeys: ['ai.usage.inputTokenDetails.cacheReadTokens', 'ai.usage.cachedInputTokens'],
  cacheWriteTokenKeys: ['ai.usage.inputTokenDetails.cacheWriteTokens'],
  reasoningTokenKeys: ['ai.usage.outputTokenDetails.reasoningTokens', 'ai.usage.reasoningTokens'],
  // Traceloop's SDK translates input and output to GenAI attributes.
  input: (span, type) => genAi.input(span, type) ?? promptOf(span.attributes) ?? firstPlain(span.attributes, INPUTS),
  output: (span, type) => genAi.output(span, type) ?? answerOf(span.attributes) ?? firstPlain(span.attributes, OUTPUTS),
};

const INPUT_TOKENS = [...GEN_AI_INPUT_TOKENS, 'ai.usage.inputTokens', 'ai.usage.promptTokens'];

const INPUTS = ['ai.toolCall.args', 'ai.value', 'ai.values', 'ai.documents'];
const OUTPUTS = ['ai.toolCall.result', 'ai.response.object', 'ai.embedding', 'ai.embeddings', 'ai.ranking'];

/** Tokens of a `.do…` embedding call; 0 for the operation around it, which repeats them. */
function embeddedTokens(attributes: Attributes): number {
  const isCall = textAt(attributes, OPERATION).includes('.do');
  return isCall ? (tokenCount(attributes, ['ai.usage.tokens']) ?? 0) : 0;
}

/** The input: the messages of one call, or the prompt of an operation around calls. */
function promptOf(attributes: Attributes): SpanText | null {
  const messages = textAt(attributes, MESSAGES);
  const key = messages === '' ? PROMPT : MESSAGES;
  const text = messages || textAt(attributes, PROMPT);
  if (text === '') return null;
  const parsed = parseStructure(text);
  const read = conversationOf(isJsonObject(parsed) ? messagesOfPrompt(parsed) : parsed);
  return read === null ? plainText(text, [key]) : conversation(read, [key]);
}

function messagesOfPrompt(parsed: JsonObject): unknown {
  const { system, prompt, messages, ...rest } = parsed;
  // As messages, the prompt would lose its further members.
  if (Object.keys(rest).length > 0) return parsed;
  const promptMessages = Array.isArray(prompt) ? (prompt as readonly unknown[]) : null;
  return [
    ...(system === undefined ? [] : [isJsonObject(system) ? system : { role: 'system', content: asText(system) }]),
    ...(promptMessages ?? (prompt === undefined ? [] : [{ role: 'user', content: asText(prompt) }])),
    ...listOf(messages),
  ];
}

/** The answer of the model with its tool calls, as one message. */
function answerOf(attributes: Attributes): SpanText | null {
  const text = textAt(attributes, TEXT);
  const calls = textAt(attributes, TOOL_CALLS);
  if (text === '' && calls === '') return null;
  const parsed = parseStructure(calls);
  const message: Message | null = messageOf({ role: 'assistant', content: text, tool_calls: listOf(parsed) });
  // Tool calls that are not a list stay among the attributes.
  const keys = calls !== '' && !Array.isArray(parsed) ? [TEXT] : [TEXT, TOOL_CALLS];
  return message === null ? null : conversation([message], keys);
}
