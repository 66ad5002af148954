import { textAt } from '../attribute-text.ts';
import type { RawSpan, SpanType } from '../span.ts';
import { type Convention, countReader, firstPacked, firstValue } from './convention.ts';
import { flattenedConversation } from './flattened.ts';
import { genAi, indexedForm } from './gen-ai.ts';
import { GEN_AI, GEN_AI_INPUT_TOKENS, GEN_AI_OUTPUT_TOKENS } from './gen-ai-attributes.ts';

const KIND = 'traceloop.span.kind';
const ENTITY = 'traceloop.entity.name';
const REQUEST_TYPE = 'llm.request.type';
/** Every span of Traceloop's SDK or its instrumentations has one of these attributes. */
const MARKER_KEYS = [KIND, ENTITY, 'traceloop.workflow.name', 'traceloop.entity.path', REQUEST_TYPE];

const KINDS: Readonly<Record<string, SpanType>> = { agent: 'agent', tool: 'tool', workflow: 'chain', task: 'chain' };
const REQUEST_TYPES: Readonly<Record<string, SpanType>> = {
  chat: 'llm',
  completion: 'llm',
  embedding: 'embedding',
  embeddings: 'embedding',
  rerank: 'reranker',
};

const PROMPTS = indexedForm('llm.prompts', 'user');
const COMPLETIONS = indexedForm('llm.completions', 'assistant');

/**
 * OpenLLMetry, as Traceloop's SDK and its instrumentations send it: GenAI attributes on spans with Traceloop's own
 * kinds.
 */
export const traceloop: Convention = {
  name: 'traceloop',
  recognises: ({ attributes }) => MARKER_KEYS.some((key) => attributes[key] !== undefined),
  type(span): SpanType {
    const request = textAt(span.attributes, REQUEST_TYPE).trim().toLowerCase();
    return typeIn(KINDS, kindOf(span)) ?? typeIn(REQUEST_TYPES, request) ?? genAi.type(span);
  },
  agent: (span) =>
    firstValue(span.attributes, [GEN_AI.agentName, ...(kindOf(span) === 'agent' ? [ENTITY] : []), LANGCHAIN_AGENT]),
  modelKeys: [...genAi.modelKeys, 'llm.request.model', 'llm.response.model'],
  responseIdKeys: genAi.responseIdKeys,
  inputTokens: countReader(...GEN_AI_INPUT_TOKENS, 'llm.usage.prompt_tokens'),
  outputTokens: countReader(...GEN_AI_OUTPUT_TOKENS, 'llm.usage.completion_tokens'),
  cacheReadTokenKeys: ['llm.usage.cache_read_input_tokens'],
  cacheWriteTokenKeys: ['llm.usage.cache_creation_input_tokens'],
  reasoningTokenKeys: ['llm.usage.reasoning_tokens'],
  input: (span, type) =>
    firstPacked(span.attributes, ['traceloop.entity.input']) ??
    genAi.input(span, type) ??
    flattenedConversation(span.attributes, PROMPTS),
  output: (span, type) =>
    firstPacked(span.attributes, ['traceloop.entity.output']) ??
    genAi.output(span, type) ??
    flattenedConversation(span.attributes, COMPLETIONS),
};

const LANGCHAIN_AGENT = 'traceloop.association.properties.lc_agent_name';

const kindOf = ({ attributes }: RawSpan): string => textAt(attributes, KIND).trim().toLowerCase();

const typeIn = (types: Readonly<Record<string, SpanType>>, name: string): SpanType | undefined =>
  Object.hasOwn(types, name) ? types[name] : undefined;
