import { textAt } from '../attribute-text.ts';
import { SPAN_TYPES, type SpanType } from '../span.ts';
import { type Convention, firstConversation, undeclaredType } from './convention.ts';
import { flattenedConversation, type FlattenedForm } from './flattened.ts';
import { genAi } from './gen-ai.ts';

const KIND = 'openinference.span.kind';

const messages = (prefix: string): FlattenedForm => ({
  prefix,
  role: 'message.role',
  content: 'message.content',
  name: 'message.name',
  part: /^message\.contents\.\d+\.message_content\.text$/,
  toolCall: /^message\.tool_calls\.(\d+)\.tool_call\.(?:function\.)?(id|name|arguments)$/,
});
const INPUT_MESSAGES = messages('llm.input_messages');
const OUTPUT_MESSAGES = messages('llm.output_messages');

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
  agentKeys: ['agent.name'],
  modelKeys: ['llm.model_name', 'embedding.model_name', ...genAi.modelKeys],
  inputTokenKeys: ['llm.token_count.prompt', ...genAi.inputTokenKeys],
  outputTokenKeys: ['llm.token_count.completion', ...genAi.outputTokenKeys],
  responseIdKeys: genAi.responseIdKeys,
  input: ({ attributes }) =>
    flattenedConversation(attributes, INPUT_MESSAGES) ?? firstConversation(attributes, ['input.value']),
  output: ({ attributes }) =>
    flattenedConversation(attributes, OUTPUT_MESSAGES) ?? firstConversation(attributes, ['output.value']),
};
