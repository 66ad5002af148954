import { isJsonObject } from '../../domain/json-object.ts';
import type {
  Losses,
  NeutralChat,
  NeutralTool,
  OutputForm,
  Reasoning,
  ToolChoice,
} from '../../domain/chat/neutral-chat.ts';
import type { RequestBody } from '../../domain/inference/request-validation.ts';
import { isGatewayField } from '../../domain/inference/gateway-fields.ts';
import { list, number, object, text, lookupTable } from '../json/fields.ts';
import { malformed } from '../malformed.ts';
import { readMessages } from './read-messages.ts';

/** Members that `readChat` or the gateway reads. */
const READ_MEMBERS = new Set([
  'model',
  'messages',
  'stream',
  'stream_options',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'top_k',
  'stop',
  'seed',
  'frequency_penalty',
  'presence_penalty',
  'response_format',
  'reasoning_effort',
  'thinking',
  'user',
  'metadata',
]);

/** Unsupported members that are hints: they are dropped and reported. */
const DROPPABLE_MEMBERS = new Set([
  'store',
  'service_tier',
  'prediction',
  'verbosity',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
]);

/** Predicates by member: whether its value requests the default behaviour. */
const REQUESTS_DEFAULT = lookupTable<(value: unknown) => boolean>({
  n: (value) => value === 1,
  logprobs: (value) => value === false,
  logit_bias: (value) => isJsonObject(value) && Object.keys(value).length === 0,
  modalities: (value) => Array.isArray(value) && value.every((one) => one === 'text'),
  functions: (value) => Array.isArray(value) && value.length === 0,
});

/** Reads a chat-completions request into the neutral form. Throws InvalidInput. */
export function readChat(body: RequestBody, losses: Losses): NeutralChat {
  noteUnsupportedMembers(body, losses, (member) => READ_MEMBERS.has(member));
  return {
    ...readSampling(body),
    messages: readMessages(body['messages'], losses),
    tools: readTools(body['tools'], losses),
    toolChoice: readToolChoice(body['tool_choice'], losses),
    parallelToolCalls: typeof body['parallel_tool_calls'] === 'boolean' ? body['parallel_tool_calls'] : null,
    outputForm: readOutputForm(body['response_format']),
    reasoning: readReasoning(body),
  };
}

/**
 * Adds to `losses` the members of a request for which `isRead` returns false. Gateway fields, nulls and default values
 * are no loss.
 */
export function noteUnsupportedMembers(body: RequestBody, losses: Losses, isRead: (member: string) => boolean): void {
  for (const [member, value] of Object.entries(body)) {
    if (value === null || value === undefined || isRead(member) || isGatewayField(member)) continue;
    if (REQUESTS_DEFAULT[member]?.(value) === true) continue;
    if (DROPPABLE_MEMBERS.has(member)) losses.hint(member);
    else losses.essential(member);
  }
}

type Sampling = Omit<
  NeutralChat,
  'messages' | 'tools' | 'toolChoice' | 'parallelToolCalls' | 'outputForm' | 'reasoning'
>;

/** Reads the members that completions and chat completions share. */
export function readSampling(body: RequestBody): Sampling {
  const { stop } = body;
  return {
    model: String(body['model']),
    stream: body['stream'] === true,
    maxOutputTokens: number(body['max_completion_tokens']) ?? number(body['max_tokens']),
    temperature: number(body['temperature']),
    topP: number(body['top_p']),
    topK: number(body['top_k']),
    stop: typeof stop === 'string' ? [stop] : list(stop).filter((one) => typeof one === 'string'),
    seed: number(body['seed']),
    frequencyPenalty: number(body['frequency_penalty']),
    presencePenalty: number(body['presence_penalty']),
    endUser: text(body['user']),
  };
}

function readTools(value: unknown, losses: Losses): readonly NeutralTool[] {
  return list(value).flatMap((item, index): NeutralTool[] => {
    const tool = object(item);
    const declared = object(tool['function']);
    if (tool['type'] !== undefined && tool['type'] !== 'function') {
      losses.essential(`tools[${index}]`);
      return [];
    }
    const name = text(declared['name']);
    if (name === null) throw malformed(`tools[${index}].function.name`, 'a string');
    const mark = tool['cache_control'] ?? declared['cache_control'];
    return [
      {
        name,
        description: text(declared['description']),
        parameters: isJsonObject(declared['parameters']) ? declared['parameters'] : { type: 'object', properties: {} },
        strict: typeof declared['strict'] === 'boolean' ? declared['strict'] : null,
        ...(isJsonObject(mark) ? { cached: { ttl: text(mark['ttl']) } } : {}),
      },
    ];
  });
}

function readToolChoice(value: unknown, losses: Losses): ToolChoice | null {
  if (value === undefined || value === null) return null;
  if (value === 'auto' || value === 'none' || value === 'required') return { mode: value };
  // Mistral's clients send `any`.
  if (value === 'any') return { mode: 'required' };
  const choice = object(value);
  const name = text(object(choice['function'])['name']);
  if (choice['type'] === 'function' && name !== null) return { mode: 'tool', name };
  losses.essential('tool_choice');
  return null;
}

function readOutputForm(value: unknown): OutputForm | null {
  if (value === undefined || value === null) return null;
  const { type, json_schema: declared } = object(value);
  if (type === 'text') return { form: 'text' };
  if (type === 'json_object') return { form: 'json' };
  const { name, description, schema, strict } = object(declared);
  if (type !== 'json_schema' || !isJsonObject(schema))
    throw malformed('response_format', 'of type text, json_object, or json_schema with a schema');
  return {
    form: 'schema',
    name: text(name) ?? 'answer',
    description: text(description),
    schema,
    strict: typeof strict === 'boolean' ? strict : null,
  };
}

function readReasoning(body: RequestBody): Reasoning | null {
  const effort = text(body['reasoning_effort']);
  const thinking = body['thinking'];
  if (effort === null && !isJsonObject(thinking)) return null;
  const settings = object(thinking);
  if (settings['type'] === 'disabled') return { effort: 'none', budgetTokens: null, shown: null };
  return { effort, budgetTokens: number(settings['budget_tokens']), shown: null };
}
