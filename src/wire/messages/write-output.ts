import { isJsonObject } from '../../domain/json-object.ts';
import type { Losses, OutputForm } from '../../domain/chat/neutral-chat.ts';
import { type Fields, list } from '../json/fields.ts';
import { ANSWER_TOOL } from './message.ts';
import type { ModelFeatures } from './model-features.ts';

/** Parts of a request that set the form of the answer. */
interface Output {
  /** `output_config.format`, for models with structured outputs. Null for all others. */
  readonly format: Fields | null;
  /** The tool whose arguments are the answer, for models without structured outputs. */
  readonly tools: readonly Fields[];
  /** Whether the system prompt must request JSON. Anthropic has no setting for JSON without a schema. */
  readonly jsonOnly: boolean;
}

/** System text that requests a JSON answer without a schema. */
export const JSON_ONLY = 'Answer with one JSON object and nothing else: no other text, no code fence.';

/** No constraint on the form of the answer. */
const UNCONSTRAINED: Output = { format: null, tools: [], jsonOnly: false };

/** Writes the required form of the answer with the features of the model. */
export function writeOutput(output: OutputForm | null, { structured }: ModelFeatures, losses: Losses): Output {
  if (output === null || output.form === 'text') return UNCONSTRAINED;
  if (output.form === 'json') {
    // A system text does not bind the model as OpenAI's JSON mode does.
    losses.hint('response_format');
    return { ...UNCONSTRAINED, jsonOnly: true };
  }
  const schema = closedSchema(output.schema);
  if (structured) return { ...UNCONSTRAINED, format: { type: 'json_schema', schema } };
  const description =
    output.description ?? `Answers with the object "${output.name}". Call it once, with the whole answer.`;
  return {
    ...UNCONSTRAINED,
    tools: [{ name: ANSWER_TOOL, description, input_schema: { type: 'object', ...output.schema } }],
  };
}

/**
 * Schema with `additionalProperties: false` on every object that does not set it, as Anthropic requires. An answer that
 * matches this schema also matches the caller's, unless the caller's schema uses `not`, `oneOf` or `if`.
 */
function closedSchema(schema: Fields): Fields {
  const inner = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closedMember(key, value)]));
  const isOpen =
    (schema['type'] === 'object' || isJsonObject(schema['properties'])) && !('additionalProperties' in schema);
  return isOpen ? { ...inner, additionalProperties: false } : inner;
}

/** Members of a schema that contain schemas by name. */
const SCHEMA_MAP_MEMBERS = new Set(['properties', '$defs', 'definitions']);
/** Members of a schema that contain data, not schemas. */
const DATA_MEMBERS = new Set(['enum', 'const', 'default', 'examples', 'required']);

function closedMember(key: string, value: unknown): unknown {
  if (DATA_MEMBERS.has(key)) return value;
  if (Array.isArray(value)) return list(value).map((item) => (isJsonObject(item) ? closedSchema(item) : item));
  if (!isJsonObject(value)) return value;
  if (!SCHEMA_MAP_MEMBERS.has(key)) return closedSchema(value);
  return Object.fromEntries(
    Object.entries(value).map(([name, schema]) => [name, isJsonObject(schema) ? closedSchema(schema) : schema]),
  );
}
