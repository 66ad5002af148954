import { isJsonObject } from '../../domain/json-object.ts';
import type { RequestBody } from '../../domain/inference/request-validation.ts';
import { type Fields, text, lookupTable } from '../json/fields.ts';
import { invalidInteraction } from './faults.ts';
import { itemsOfInput } from './items.ts';

/** Member names of the Responses API, by the name in the Interactions API. */
const RENAMED = lookupTable<string>({
  system_instruction: 'instructions',
  previous_interaction_id: 'previous_response_id',
  labels: 'metadata',
});
/** Members of `generation_config` with the same name in the Responses API. */
const SETTINGS = new Set(['temperature', 'top_p', 'max_output_tokens']);
/** Members that change the request and have no counterpart in the Responses API. */
const UNSUPPORTED = new Set([
  'agent',
  'agent_config',
  'cached_content',
  'continuation_token',
  'environment',
  'safety_settings',
  'webhook_config',
]);

/**
 * Converts a request of Google's Interactions API to the Responses API. Null members are removed. Unknown members stay
 * unchanged, except in `generation_config`. Throws InvalidInput for unsupported and for invalid members.
 */
export function responseRequestOf(body: RequestBody): RequestBody {
  const presentMembers = Object.entries(body).filter(([, value]) => value !== null && value !== undefined);
  const request = Object.fromEntries(presentMembers);
  for (const name of Object.keys(request))
    if (UNSUPPORTED.has(name)) throw invalidInteraction(name, 'it cannot be honoured');
  if (text(request['model']) === null) throw invalidInteraction('model', 'it must be a string');
  if (request['input'] === undefined) throw invalidInteraction('input', 'it is required');
  const {
    input,
    generation_config: config,
    tools,
    response_format,
    response_mime_type,
    response_modalities,
    ...rest
  } = request;
  assertOnlyText(response_modalities);
  return {
    ...Object.fromEntries(Object.entries(rest).map(([name, value]) => [RENAMED[name] ?? name, value])),
    input: itemsOfInput(input),
    ...settingsOf(config),
    ...(tools === undefined ? {} : { tools: toolsOf(tools) }),
    ...formatOf(response_format, response_mime_type),
  };
}

function assertOnlyText(modalities: unknown): void {
  if (modalities === undefined) return;
  if (!Array.isArray(modalities) || modalities.some((one) => String(one).toLowerCase() !== 'text'))
    throw invalidInteraction('response_modalities', 'only text is answered here');
}

function settingsOf(config: unknown): Fields {
  if (config === undefined) return {};
  if (!isJsonObject(config)) throw invalidInteraction('generation_config', 'it must be an object');
  const reasoning: Record<string, unknown> = {};
  const settings: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(config)) {
    if (value === null || value === undefined) continue;
    if (SETTINGS.has(name)) settings[name] = value;
    else if (name === 'thinking_level') reasoning['effort'] = value;
    else if (name === 'thinking_summaries') {
      if (value === 'auto') reasoning['summary'] = 'auto';
    } else if (name === 'tool_choice') settings['tool_choice'] = choiceOf(value);
    else throw invalidInteraction(`generation_config.${name}`, 'it cannot be honoured');
  }
  return Object.keys(reasoning).length === 0 ? settings : { ...settings, reasoning };
}

/** `tool_choice` of the Responses API, by Google's mode. */
const TOOL_CHOICES = new Map<unknown, string>([
  ['auto', 'auto'],
  ['validated', 'auto'],
  ['any', 'required'],
  ['none', 'none'],
]);

function choiceOf(value: unknown): unknown {
  const choice = TOOL_CHOICES.get(value);
  if (choice !== undefined) return choice;
  const allowed = isJsonObject(value) ? value['allowed_tools'] : null;
  const names = isJsonObject(allowed) ? allowed['tools'] : null;
  if (!isJsonObject(allowed) || !Array.isArray(names) || names.some((name) => typeof name !== 'string'))
    throw invalidInteraction(
      'generation_config.tool_choice',
      'it must be auto, any, none, validated or an object of allowed tools',
    );
  const tools = names.map((name: unknown) => ({ type: 'function', name }));
  return { type: 'allowed_tools', mode: TOOL_CHOICES.get(allowed['mode'] ?? 'auto') ?? 'auto', tools };
}

function toolsOf(tools: unknown): readonly unknown[] {
  if (!Array.isArray(tools)) throw invalidInteraction('tools', 'it must be an array');
  return tools.map((tool: unknown, index) => {
    const type = isJsonObject(tool) ? tool['type'] : null;
    if (type === 'google_search') return { type: 'web_search' };
    if (!isJsonObject(tool) || type !== 'function')
      throw invalidInteraction(`tools.${index}`, 'it must be an object of the type function or google_search');
    return tool;
  });
}

const JSON_TYPE = 'application/json';

/** Output format: a JSON schema, any JSON object, or text. */
function formatOf(format: unknown, mimeType: unknown): Fields {
  if (Array.isArray(format)) {
    if (format.length > 1) throw invalidInteraction('response_format', 'only one format is supported');
    return formatOf(format[0], mimeType);
  }
  if (format !== undefined && !isJsonObject(format))
    throw invalidInteraction('response_format', 'it must be an object');
  const isTextFormat = format?.['type'] === 'text';
  if (['audio', 'image', 'video'].includes(String(format?.['type'])))
    throw invalidInteraction('response_format', 'only text is answered here');
  // A format without `type: text` is itself the schema.
  const schema = isTextFormat ? format['schema'] : format;
  if (isJsonObject(schema)) return { text: { format: { type: 'json_schema', name: 'answer', schema } } };
  const formatMimeType = isTextFormat ? format['mime_type'] : undefined;
  return (formatMimeType ?? mimeType) === JSON_TYPE ? { text: { format: { type: 'json_object' } } } : {};
}
