import { isJsonObject } from '../../domain/json-object.ts';
import type {
  Losses,
  NeutralChat,
  NeutralMessage,
  NeutralTool,
  OutputForm,
  Reasoning,
  ToolChoice,
} from '../../domain/chat/neutral-chat.ts';
import type { RequestBody } from '../../domain/inference/request-validation.ts';
import { isGatewayField } from '../../domain/inference/gateway-fields.ts';
import { type Fields, list, number, object, text, lookupTable } from '../json/fields.ts';
import { malformed } from '../malformed.ts';
import { CUSTOM_PARAMETERS } from './custom-tools.ts';
import { readInput } from './read-items.ts';

/** Members that `readResponseRequest` reads, and those that affect only the answer object or its storage. */
const READ_MEMBERS = new Set([
  'model',
  'input',
  'instructions',
  'stream',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'max_output_tokens',
  'temperature',
  'top_p',
  'text',
  'reasoning',
  'user',
  'safety_identifier',
  'metadata',
  'store',
]);

/** Unsupported members that are hints: they are dropped and reported. */
const DROPPABLE_MEMBERS = new Set([
  'service_tier',
  'prompt_cache_key',
  'prompt_cache_retention',
  'prompt_cache_options',
  'context_management',
  'max_tool_calls',
  'truncation',
]);

/** Values of `include` that need no support: the data is always included, or it belongs to provider tools. */
const SUPPORTED_INCLUDE =
  /^(reasoning\.encrypted_content|(file_search|web_search|code_interpreter|computer)_call.*|message\.input_image.*)$/;

/** Predicates by member: whether its value requests the default behaviour. */
const REQUESTS_DEFAULT = lookupTable<(value: unknown) => boolean>({
  background: (value) => value === false,
  top_logprobs: (value) => value === 0,
  truncation: (value) => value === 'disabled',
  include: (value) => list(value).every((one) => typeof one === 'string' && SUPPORTED_INCLUDE.test(one)),
  stream_options: (value) => isJsonObject(value),
});

/**
 * Reads a Responses request into the neutral form. References to stored responses must already be resolved. Throws
 * InvalidInput.
 */
export function readResponseRequest(body: RequestBody, losses: Losses): NeutralChat {
  noteUnsupportedMembers(body, losses);
  const instructions = text(body['instructions']);
  const system: readonly NeutralMessage[] =
    instructions === null ? [] : [{ role: 'system', content: [{ kind: 'text', text: instructions }] }];
  return {
    model: String(body['model']),
    stream: body['stream'] === true,
    messages: [...system, ...readInput(body['input'], losses)],
    tools: readTools(body['tools'], losses),
    toolChoice: readToolChoice(body['tool_choice'], losses),
    parallelToolCalls: typeof body['parallel_tool_calls'] === 'boolean' ? body['parallel_tool_calls'] : null,
    maxOutputTokens: number(body['max_output_tokens']),
    temperature: number(body['temperature']),
    topP: number(body['top_p']),
    topK: null,
    stop: [],
    seed: null,
    frequencyPenalty: null,
    presencePenalty: null,
    outputForm: readOutputForm(object(body['text']), losses),
    reasoning: readReasoning(body['reasoning']),
    endUser: text(body['user']) ?? text(body['safety_identifier']),
  };
}

function noteUnsupportedMembers(body: RequestBody, losses: Losses): void {
  for (const [member, value] of Object.entries(body)) {
    if (value === null || value === undefined || READ_MEMBERS.has(member) || isGatewayField(member)) continue;
    if (REQUESTS_DEFAULT[member]?.(value) === true) continue;
    if (DROPPABLE_MEMBERS.has(member)) losses.hint(member);
    else losses.essential(member);
  }
}

function readTools(value: unknown, losses: Losses): readonly NeutralTool[] {
  return list(value).flatMap((item, index) => readTool(object(item), `tools[${index}]`, losses));
}

function readTool(tool: Fields, where: string, losses: Losses): readonly NeutralTool[] {
  const isCustom = tool['type'] === 'custom';
  if (!isCustom && tool['type'] !== 'function') {
    losses.essential(where);
    return [];
  }
  const name = text(tool['name']);
  if (name === null) throw malformed(`${where}.name`, 'a string');
  if (isCustom && object(tool['format'])['type'] === 'grammar') losses.essential(`${where}.format`);
  const declared = isJsonObject(tool['parameters']) ? tool['parameters'] : { type: 'object', properties: {} };
  return [
    {
      name,
      description: text(tool['description']),
      parameters: isCustom ? CUSTOM_PARAMETERS : declared,
      strict: typeof tool['strict'] === 'boolean' ? tool['strict'] : null,
    },
  ];
}

function readToolChoice(value: unknown, losses: Losses): ToolChoice | null {
  if (value === undefined || value === null) return null;
  if (value === 'auto' || value === 'none' || value === 'required') return { mode: value };
  const { type, name } = object(value);
  if ((type === 'function' || type === 'custom') && typeof name === 'string') return { mode: 'tool', name };
  losses.essential('tool_choice');
  return null;
}

function readOutputForm({ format, verbosity }: Fields, losses: Losses): OutputForm | null {
  if (typeof verbosity === 'string' && verbosity !== 'medium') losses.hint('text.verbosity');
  if (format === undefined || format === null) return null;
  const { type, name, description, schema, strict } = object(format);
  if (type === 'text') return { form: 'text' };
  if (type === 'json_object') return { form: 'json' };
  if (type !== 'json_schema' || !isJsonObject(schema))
    throw malformed('text.format', 'of type text, json_object, or json_schema with a schema');
  return {
    form: 'schema',
    name: text(name) ?? 'answer',
    description: text(description),
    schema,
    strict: typeof strict === 'boolean' ? strict : null,
  };
}

function readReasoning(value: unknown): Reasoning | null {
  const settings = object(value);
  const effort = text(settings['effort']);
  const summary = settings['summary'] ?? settings['generate_summary'] ?? null;
  const shown = summary === null ? null : true;
  return effort === null && shown === null ? null : { effort, budgetTokens: null, shown };
}
