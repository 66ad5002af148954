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
import { camelCased } from './names.ts';
import { readContents } from './read-contents.ts';
import { jsonSchemaOf } from './schema.ts';

/** Members that `readGenerate` reads. */
const READ_MEMBERS = new Set([
  'model',
  'stream',
  'contents',
  'systemInstruction',
  'tools',
  'toolConfig',
  'generationConfig',
]);
/** Unsupported members that are hints: filters, labels and service tier do not change the input of the model. */
const DROPPABLE_MEMBERS = new Set(['safetySettings', 'labels', 'metadata', 'serviceTier']);

/** Members of `generationConfig` that `readGenerate` reads. */
const READ_CONFIG_MEMBERS = new Set([
  'temperature',
  'topP',
  'topK',
  'maxOutputTokens',
  'stopSequences',
  'seed',
  'presencePenalty',
  'frequencyPenalty',
  'responseMimeType',
  'responseSchema',
  'responseJsonSchema',
  'thinkingConfig',
]);
/** Predicates by member: whether its value requests the default behaviour. */
const REQUESTS_DEFAULT = lookupTable<(value: unknown) => boolean>({
  candidateCount: (value) => value === 1,
  responseLogprobs: (value) => value === false,
  responseModalities: (value) => Array.isArray(value) && value.every((one) => String(one).toUpperCase() === 'TEXT'),
});

/** Reads a generateContent request into the neutral form. Throws InvalidInput. */
export function readGenerate(request: RequestBody, losses: Losses): NeutralChat {
  // Gateway fields have names in snake case, so they are removed before the conversion to camel case.
  const body = camelCased(Object.fromEntries(Object.entries(request).filter(([member]) => !isGatewayField(member))));
  const config = camelCased(body['generationConfig']);
  noteUnsupportedMembers(body, config, losses);
  return {
    model: String(body['model']),
    stream: body['stream'] === true,
    messages: [...readSystem(body['systemInstruction']), ...readContents(body['contents'], losses)],
    tools: readTools(body['tools'], losses),
    toolChoice: readToolChoice(body['toolConfig'], losses),
    parallelToolCalls: null,
    maxOutputTokens: number(config['maxOutputTokens']),
    temperature: number(config['temperature']),
    topP: number(config['topP']),
    topK: number(config['topK']),
    stop: list(config['stopSequences']).filter((one) => typeof one === 'string'),
    seed: number(config['seed']),
    frequencyPenalty: number(config['frequencyPenalty']),
    presencePenalty: number(config['presencePenalty']),
    outputForm: readOutputForm(config),
    reasoning: readReasoning(config['thinkingConfig']),
    endUser: null,
  };
}

function noteUnsupportedMembers(body: Fields, config: Fields, losses: Losses): void {
  const isPresent = ([, value]: readonly [string, unknown]): boolean => value !== null && value !== undefined;
  for (const [member] of Object.entries(body).filter(isPresent)) {
    if (READ_MEMBERS.has(member)) continue;
    if (DROPPABLE_MEMBERS.has(member)) losses.hint(member);
    else losses.essential(member);
  }
  for (const [member, value] of Object.entries(config).filter(isPresent))
    if (!READ_CONFIG_MEMBERS.has(member) && REQUESTS_DEFAULT[member]?.(value) !== true)
      losses.essential(`generationConfig.${member}`);
}

function readSystem(value: unknown): readonly NeutralMessage[] {
  if (value === undefined || value === null) return [];
  const parts = typeof value === 'string' ? [{ text: value }] : list(camelCased(value)['parts']);
  const content = parts.map((item, index) => {
    const words = text(object(item)['text']);
    if (words === null) throw malformed(`systemInstruction.parts[${index}]`, 'a part with text');
    return { kind: 'text' as const, text: words };
  });
  return [{ role: 'system', content }];
}

function readTools(value: unknown, losses: Losses): readonly NeutralTool[] {
  return list(value).flatMap((item, index): readonly NeutralTool[] => {
    const { functionDeclarations, ...others } = camelCased(item);
    const [unsupported] = Object.keys(others);
    if (unsupported !== undefined) losses.essential(`tools[${index}].${unsupported}`);
    return list(functionDeclarations).map((one, position): NeutralTool => {
      const declared = camelCased(one);
      const name = text(declared['name']);
      if (name === null) throw malformed(`tools[${index}].functionDeclarations[${position}].name`, 'a string');
      return { name, description: text(declared['description']), parameters: parametersOf(declared), strict: null };
    });
  });
}

function parametersOf({ parametersJsonSchema, parameters }: Fields): Fields {
  if (isJsonObject(parametersJsonSchema)) return parametersJsonSchema;
  return isJsonObject(parameters) ? jsonSchemaOf(parameters) : { type: 'object', properties: {} };
}

function readToolChoice(value: unknown, losses: Losses): ToolChoice | null {
  const config = camelCased(camelCased(value)['functionCallingConfig']);
  const allowed = list(config['allowedFunctionNames']).filter((name) => typeof name === 'string');
  const [firstAllowed] = allowed;
  switch (text(config['mode'])?.toUpperCase()) {
    case undefined:
    case 'MODE_UNSPECIFIED':
      return null;
    case 'AUTO':
    case 'VALIDATED':
      return { mode: 'auto' };
    case 'NONE':
      return { mode: 'none' };
    case 'ANY':
      if (allowed.length > 1) losses.essential('toolConfig.functionCallingConfig.allowedFunctionNames');
      return firstAllowed === undefined ? { mode: 'required' } : { mode: 'tool', name: firstAllowed };
    default:
      throw malformed('toolConfig.functionCallingConfig.mode', 'one of AUTO, ANY, NONE, VALIDATED');
  }
}

function readOutputForm(config: Fields): OutputForm | null {
  const schema = readOutputSchema(config);
  if (schema !== null) return { form: 'schema', name: 'answer', description: null, schema, strict: null };
  const mediaType = text(config['responseMimeType']);
  if (mediaType === null) return null;
  if (mediaType === 'text/plain') return { form: 'text' };
  if (mediaType === 'application/json') return { form: 'json' };
  throw malformed('generationConfig.responseMimeType', 'text/plain or application/json');
}

function readOutputSchema({ responseJsonSchema, responseSchema }: Fields): Fields | null {
  if (isJsonObject(responseJsonSchema)) return responseJsonSchema;
  return isJsonObject(responseSchema) ? jsonSchemaOf(responseSchema) : null;
}

function readReasoning(value: unknown): Reasoning | null {
  if (!isJsonObject(value)) return null;
  const config = camelCased(value);
  const budget = number(config['thinkingBudget']);
  const effort = text(config['thinkingLevel'])?.toLowerCase() ?? null;
  const shown = typeof config['includeThoughts'] === 'boolean' ? config['includeThoughts'] : null;
  // A negative budget means that the model decides.
  const budgetTokens = budget !== null && budget >= 0 ? budget : null;
  const isEmpty = effort === null && budgetTokens === null && shown === null;
  return isEmpty ? null : { effort, budgetTokens, shown };
}
