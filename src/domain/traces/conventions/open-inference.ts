import { textAt } from '../attribute-text.ts';
import { type Attributes, SPAN_TYPES, type SpanType } from '../span.ts';
import { type Convention, counted, firstPacked, firstValue, type Lifted, undeclaredType } from './convention.ts';
import { isJson, parseStructure } from './conversation.ts';
import { flattenedConversation, type FlattenedForm, type SpreadConversation } from './flattened.ts';
import { genAi } from './gen-ai.ts';
import { GEN_AI_INPUT_TOKENS, GEN_AI_OUTPUT_TOKENS } from './gen-ai-attributes.ts';

const KIND = 'openinference.span.kind';
const LANGCHAIN_AGENT = 'lc_agent_name';

const messages = (prefix: string, speaker: string): FlattenedForm => ({
  prefix,
  speaker,
  role: 'message.role',
  content: 'message.content',
  name: 'message.name',
  part: /^message\.contents\.\d+\.message_content\.text$/,
  toolCall: /^message\.tool_calls\.(\d+)\.tool_call\.(?:function\.)?(id|name|arguments)$/,
});
const INPUT_MESSAGES = messages('llm.input_messages', 'user');
const OUTPUT_MESSAGES = messages('llm.output_messages', 'assistant');

/** OpenInference, as the Arize instrumentations send it. */
export const openInference: Convention = {
  name: 'openinference',
  recognises: ({ attributes }) => attributes[KIND] !== undefined,
  type(span): SpanType {
    const kind = textAt(span.attributes, KIND).trim().toLowerCase();
    const declared = SPAN_TYPES.find((type) => type === kind);
    // The outermost chain is what its framework calls the run of an agent.
    return declared === undefined || declared === 'chain' ? undeclaredType(span) : declared;
  },
  agent: ({ attributes }) => firstValue(attributes, ['agent.name']) ?? agentInMetadata(attributes),
  modelKeys: ['llm.model_name', 'embedding.model_name', 'reranker.model_name', ...genAi.modelKeys],
  responseIdKeys: genAi.responseIdKeys,
  inputTokens: counted('llm.token_count.prompt', ...GEN_AI_INPUT_TOKENS),
  outputTokens: counted('llm.token_count.completion', ...GEN_AI_OUTPUT_TOKENS),
  cacheReadTokenKeys: ['llm.token_count.prompt_details.cache_read'],
  cacheWriteTokenKeys: ['llm.token_count.prompt_details.cache_write'],
  reasoningTokenKeys: ['llm.token_count.completion_details.reasoning'],
  input: ({ attributes }) => said(flattenedConversation(attributes, INPUT_MESSAGES), attributes, 'input.value'),
  output: ({ attributes }) => said(flattenedConversation(attributes, OUTPUT_MESSAGES), attributes, 'output.value'),
};

/** LangChain's messages can arrive spread, but without what they say; then the value they were made from counts. */
function said(spread: SpreadConversation | null, attributes: Attributes, key: string): Lifted | null {
  return spread !== null && !spread.silent ? spread : (firstPacked(attributes, [key]) ?? spread);
}

/** LangChain tells its agent in the metadata, a JSON text. */
function agentInMetadata(attributes: Attributes): string | null {
  const text = textAt(attributes, 'metadata');
  if (!text.includes(LANGCHAIN_AGENT)) return null;
  const metadata = parseStructure(text);
  const agent = isJson(metadata) ? metadata[LANGCHAIN_AGENT] : null;
  return typeof agent === 'string' && agent.trim() !== '' ? agent.trim() : null;
}
