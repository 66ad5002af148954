import type { Losses, OutputForm } from '../../domain/chat/neutral-chat.ts';
import { type Fields, isObject, list } from '../json/fields.ts';
import { ANSWER_TOOL } from './answer-tool.ts';
import type { ModelFeatures } from './model-features.ts';

/** What asks for the form of an answer. */
interface Output {
  /** The schema, for models that keep to one. */
  readonly format: Fields | null;
  /** The tool to be called with the answer, for models that do not. */
  readonly tools: readonly Fields[];
  /** Only words can ask for JSON of any form. */
  readonly jsonOnly: boolean;
}

export const JSON_ONLY = 'Answer with one JSON object and nothing else: no other text, no code fence.';

const FREE: Output = { format: null, tools: [], jsonOnly: false };

/** The form an answer must have, in the words the model knows. */
export function writeOutput(output: OutputForm | null, { structured }: ModelFeatures, losses: Losses): Output {
  if (output === null || output.form === 'text') return FREE;
  if (output.form === 'json') {
    // Nothing makes the model keep to it, as OpenAI's mode would.
    losses.hint('response_format');
    return { ...FREE, jsonOnly: true };
  }
  const schema = closed(output.schema);
  if (structured) return { ...FREE, format: { type: 'json_schema', schema } };
  const description =
    output.description ?? `Answers with the object "${output.name}". Call it once, with the whole answer.`;
  return { ...FREE, tools: [{ name: ANSWER_TOOL, description, input_schema: { type: 'object', ...output.schema } }] };
}

/**
 * A schema whose objects say that they have no further members, as this dialect demands. What fits it fits the caller's,
 * which left that open.
 */
function closed(schema: Fields): Fields {
  const inner = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closedWithin(key, value)]));
  const isOpen = (schema['type'] === 'object' || isObject(schema['properties'])) && !('additionalProperties' in schema);
  return isOpen ? { ...inner, additionalProperties: false } : inner;
}

/** Members of a schema that hold schemas by name, and those whose value is data, not a schema. */
const BY_NAME = new Set(['properties', '$defs', 'definitions']);
const DATA = new Set(['enum', 'const', 'default', 'examples', 'required']);

function closedWithin(key: string, value: unknown): unknown {
  if (DATA.has(key)) return value;
  if (Array.isArray(value)) return list(value).map((item) => (isObject(item) ? closed(item) : item));
  if (!isObject(value)) return value;
  if (!BY_NAME.has(key)) return closed(value);
  return Object.fromEntries(
    Object.entries(value).map(([name, schema]) => [name, isObject(schema) ? closed(schema) : schema]),
  );
}
