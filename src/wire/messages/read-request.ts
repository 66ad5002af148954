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
import { list, number, object, text } from '../json/fields.ts';
import { malformed } from '../malformed.ts';
import { cacheMarkOf, readMessages, readSystem } from './read-messages.ts';

/** Members that `readMessagesRequest` reads. */
const READ_MEMBERS = new Set([
  'model',
  'messages',
  'max_tokens',
  'system',
  'stream',
  'tools',
  'tool_choice',
  'stop_sequences',
  'temperature',
  'top_p',
  'top_k',
  'thinking',
  'output_config',
  'output_format',
  'metadata',
]);

/** Unsupported members that are hints: they are dropped and reported. */
const DROPPABLE_MEMBERS = new Set(['service_tier', 'cache_control', 'context_management', 'diagnostics', 'speed']);

/** Reads a messages request into the neutral form. Throws InvalidInput. */
export function readMessagesRequest(body: RequestBody, losses: Losses): NeutralChat {
  for (const [member, value] of Object.entries(body)) {
    if (value === null || value === undefined || READ_MEMBERS.has(member) || isGatewayField(member)) continue;
    if (DROPPABLE_MEMBERS.has(member)) losses.hint(member);
    else losses.essential(member);
  }
  const maxOutputTokens = number(body['max_tokens']);
  // Token-count requests have no limit. For other requests the endpoint already requires the member.
  if (maxOutputTokens === null && body['max_tokens'] !== undefined) throw malformed('max_tokens', 'a number');
  const choice = object(body['tool_choice']);
  return {
    model: String(body['model']),
    stream: body['stream'] === true,
    messages: [...readSystem(body['system'], 'system'), ...readMessages(body['messages'], losses)],
    tools: readTools(body['tools'], losses),
    toolChoice: readToolChoice(body['tool_choice'], losses),
    parallelToolCalls:
      typeof choice['disable_parallel_tool_use'] === 'boolean' ? !choice['disable_parallel_tool_use'] : null,
    maxOutputTokens,
    temperature: number(body['temperature']),
    topP: number(body['top_p']),
    topK: number(body['top_k']),
    stop: list(body['stop_sequences']).filter((one) => typeof one === 'string'),
    seed: null,
    frequencyPenalty: null,
    presencePenalty: null,
    outputForm: readOutputForm(body, losses),
    reasoning: readReasoning(body, losses),
    endUser: readEndUser(body['metadata'], losses),
  };
}

/** Unsupported members of a tool that are hints: they are dropped and reported. */
const DROPPABLE_TOOL_MEMBERS = ['eager_input_streaming', 'input_examples', 'defer_loading', 'allowed_callers'] as const;

/** Reads the caller's tools. Adds Anthropic's own tools to `losses`, because other dialects do not have them. */
function readTools(value: unknown, losses: Losses): readonly NeutralTool[] {
  return list(value).flatMap((item, index): NeutralTool[] => {
    const tool = object(item);
    const where = `tools[${index}]`;
    if ((tool['type'] ?? 'custom') !== 'custom') {
      losses.essential(where);
      return [];
    }
    const name = text(tool['name']);
    if (name === null) throw malformed(`${where}.name`, 'a string');
    for (const member of DROPPABLE_TOOL_MEMBERS)
      if ((tool[member] ?? false) !== false) losses.hint(`${where}.${member}`);
    return [
      {
        name,
        description: text(tool['description']),
        parameters: isJsonObject(tool['input_schema']) ? tool['input_schema'] : { type: 'object', properties: {} },
        strict: typeof tool['strict'] === 'boolean' ? tool['strict'] : null,
        ...cacheMarkOf(tool),
      },
    ];
  });
}

function readToolChoice(value: unknown, losses: Losses): ToolChoice | null {
  if (value === undefined || value === null) return null;
  const choice = object(value);
  const name = text(choice['name']);
  switch (choice['type']) {
    case 'auto':
      return { mode: 'auto' };
    case 'none':
      return { mode: 'none' };
    case 'any':
      return { mode: 'required' };
    case 'tool':
      if (name !== null) return { mode: 'tool', name };
  }
  losses.essential('tool_choice');
  return null;
}

/** Required form of the answer. `output_format` is the earlier name of `output_config.format`. */
function readOutputForm(body: RequestBody, losses: Losses): OutputForm | null {
  const format = object(body['output_config'])['format'] ?? body['output_format'];
  if (format === undefined || format === null) return null;
  const { type, schema } = object(format);
  if (type === 'json_schema' && isJsonObject(schema))
    return { form: 'schema', name: 'answer', description: null, schema, strict: true };
  losses.essential('output_config.format');
  return null;
}

/** Whether thoughts are shown, by `display`. */
const DISPLAYS = new Map<unknown, boolean>([
  ['summarized', true],
  ['omitted', false],
]);

/** Reasoning settings. `adaptive` sets no budget: the model decides. */
function readReasoning(body: RequestBody, losses: Losses): Reasoning | null {
  const config = object(body['output_config']);
  for (const member of Object.keys(config))
    if (member !== 'effort' && member !== 'format') losses.essential(`output_config.${member}`);
  const effort = readEffort(config['effort'], losses);
  const thinking = body['thinking'];
  if (thinking === undefined || thinking === null)
    return effort === null ? null : { effort, budgetTokens: null, shown: null };
  const { type, budget_tokens: budget, display } = object(thinking);
  const shown = DISPLAYS.get(display) ?? null;
  switch (type) {
    case 'disabled':
      return { effort: 'none', budgetTokens: null, shown: null };
    case 'adaptive':
      return { effort, budgetTokens: null, shown };
    case 'enabled':
      return { effort, budgetTokens: number(budget), shown };
    default:
      losses.essential('thinking');
      return null;
  }
}

/** Effort. `max` becomes `xhigh`, the highest effort of the neutral form. */
function readEffort(value: unknown, losses: Losses): string | null {
  if (value !== 'max') return text(value);
  losses.hint('output_config.effort');
  return 'xhigh';
}

function readEndUser(metadata: unknown, losses: Losses): string | null {
  const fields = object(metadata);
  for (const member of Object.keys(fields)) if (member !== 'user_id') losses.hint(`metadata.${member}`);
  return text(fields['user_id']);
}
