import { isJsonObject } from '../../json-object.ts';
import { textAt } from '../attribute-text.ts';
import { type Attributes, type RawSpan, SPAN_TYPES, type SpanType } from '../span.ts';
import {
  type Convention,
  countReader,
  firstPacked,
  firstValue,
  type SpanText,
  plainText,
  undeclaredType,
} from './convention.ts';
import { parseStructure } from './conversation.ts';
import { flattenedConversation, type FlattenedForm, type FlattenedConversation } from './flattened.ts';
import { genAi } from './gen-ai.ts';
import { GEN_AI, GEN_AI_INPUT_TOKENS, GEN_AI_OUTPUT_TOKENS } from './gen-ai-attributes.ts';

const KIND = 'openinference.span.kind';
const LANGCHAIN_AGENT = 'lc_agent_name';

const messageForm = (prefix: string, defaultRole: string): FlattenedForm => ({
  prefix,
  defaultRole,
  role: 'message.role',
  content: 'message.content',
  name: 'message.name',
  part: /^message\.contents\.\d+\.message_content\.text$/,
  toolCall: /^message\.tool_calls\.(\d+)\.tool_call\.(?:function\.)?(id|name|arguments)$/,
});
const INPUT_MESSAGES = messageForm('llm.input_messages', 'user');
const OUTPUT_MESSAGES = messageForm('llm.output_messages', 'assistant');

/** OpenInference, as the Arize instrumentations send it. */
export const openInference: Convention = {
  name: 'openinference',
  recognises: ({ attributes }) => attributes[KIND] !== undefined,
  type(span): SpanType {
    const kind = textAt(span.attributes, KIND).trim().toLowerCase();
    const declared = SPAN_TYPES.find((type) => type === kind);
    // Frameworks send the run of an agent as the outermost chain.
    return declared === undefined || declared === 'chain' ? undeclaredType(span, agentNameIn(span)) : declared;
  },
  agent: agentOf,
  modelKeys: ['llm.model_name', 'embedding.model_name', 'reranker.model_name', ...genAi.modelKeys],
  model: modelInParameters,
  responseIdKeys: genAi.responseIdKeys,
  responseId: answerIdInOutput,
  inputTokens: countReader('llm.token_count.prompt', ...GEN_AI_INPUT_TOKENS),
  outputTokens: countReader('llm.token_count.completion', ...GEN_AI_OUTPUT_TOKENS),
  cacheReadTokenKeys: ['llm.token_count.prompt_details.cache_read'],
  cacheWriteTokenKeys: ['llm.token_count.prompt_details.cache_write'],
  reasoningTokenKeys: ['llm.token_count.completion_details.reasoning'],
  input: ({ attributes }) =>
    richestConversation(flattenedConversation(attributes, INPUT_MESSAGES), attributes, 'input.value'),
  output: ({ attributes }, type) =>
    (DOCUMENT_TYPES.has(type) ? documentsOf(attributes) : null) ??
    richestConversation(flattenedConversation(attributes, OUTPUT_MESSAGES), attributes, 'output.value'),
};

const ANSWER_ID = /^\s*\{\s*"id"\s*:\s*"([^"\\]{1,512})"/;

/** Id in the provider's answer, which the output has as JSON. LangChain puts the id into `llm_output`. */
function answerIdInOutput(attributes: Attributes): string | null {
  const text = textAt(attributes, 'output.value');
  const [, first] = ANSWER_ID.exec(text) ?? [];
  if (first !== undefined) return first;
  if (!text.includes('"id"')) return null;
  const output = parseStructure(text);
  if (!isJsonObject(output)) return null;
  const { llm_output: inner } = output;
  const id = output['id'] ?? (isJsonObject(inner) ? inner['id'] : null);
  return typeof id === 'string' && id !== '' ? id : null;
}

const DOCUMENT_TYPES: ReadonlySet<SpanType> = new Set(['retriever', 'reranker']);
const PARAMETERS = ['llm.invocation_parameters', 'embedding.invocation_parameters'];

/** The requested model, for failed calls, which have no other. */
function modelInParameters(attributes: Attributes): string | null {
  for (const key of PARAMETERS) {
    const parameters = parseStructure(textAt(attributes, key));
    const model = isJsonObject(parameters) ? (parameters['model'] ?? parameters['model_name']) : null;
    if (typeof model === 'string' && model.trim() !== '') return model.trim();
  }
  return null;
}

/** Attribute key of one field of a document: `<prefix>.<index>.document.<field>`. */
const DOCUMENT =
  /^(?:retrieval\.documents|reranker\.output_documents)\.(\d{1,5})\.document\.(id|content|score|metadata)$/;

/** The documents of a retriever or reranker as a JSON list; null without any. */
function documentsOf(attributes: Attributes): SpanText | null {
  const documents = new Map<number, Record<string, unknown>>();
  const keys: string[] = [];
  for (const key of Object.keys(attributes)) {
    const [, index, field] = DOCUMENT.exec(key) ?? [];
    if (index === undefined || field === undefined) continue;
    const value = attributes[key] ?? null;
    const document = documents.get(Number(index)) ?? {};
    document[field] = typeof value === 'number' ? value : documentField(field, textAt(attributes, key));
    documents.set(Number(index), document);
    keys.push(key);
  }
  if (documents.size === 0) return null;
  const inOrder = [...documents].toSorted(([left], [right]) => left - right).map(([, document]) => document);
  return plainText(JSON.stringify(inOrder), keys);
}

/** `metadata` may be a JSON text. */
const documentField = (field: string, text: string): unknown =>
  field === 'metadata' ? (parseStructure(text) ?? text) : text;

/**
 * The flattened messages. When they are empty, the original value replaces them: flattened messages of LangChain may
 * lack their contents.
 */
function richestConversation(
  flattened: FlattenedConversation | null,
  attributes: Attributes,
  key: string,
): SpanText | null {
  return flattened !== null && !flattened.isEmpty ? flattened : (firstPacked(attributes, [key]) ?? flattened);
}

const agentNameIn = ({ attributes }: RawSpan): string | null =>
  firstValue(attributes, ['agent.name', 'agno.agent', 'agno.team']) ?? agentInMetadata(attributes);

/**
 * The agent of a span. An agent span without an OpenInference agent name has its graph node, GenAI agent or span name
 * instead.
 */
function agentOf(span: RawSpan): string | null {
  const named = agentNameIn(span);
  if (named !== null || !isAgent(span)) return named;
  return firstValue(span.attributes, ['graph.node.name', GEN_AI.agentName]) ?? (span.name.trim() || null);
}

const isAgent = ({ attributes }: RawSpan): boolean => textAt(attributes, KIND).trim().toLowerCase() === 'agent';

/** LangChain names its agent in the metadata, a JSON text. */
function agentInMetadata(attributes: Attributes): string | null {
  const text = textAt(attributes, 'metadata');
  if (!text.includes(LANGCHAIN_AGENT)) return null;
  const metadata = parseStructure(text);
  const agent = isJsonObject(metadata) ? metadata[LANGCHAIN_AGENT] : null;
  return typeof agent === 'string' && agent.trim() !== '' ? agent.trim() : null;
}
