import type {
  Losses,
  NeutralChat,
  NeutralMessage,
  NeutralTool,
  OutputForm,
  ToolChoice,
} from '../../domain/chat/neutral-chat.ts';
import { forcesToolCall, hasResultWithoutThinking } from '../../domain/chat/claude-thinking.ts';
import { thoughtBudgetOf } from '../../domain/chat/reasoning.ts';
import type { RequestBody } from '../../domain/inference/request-validation.ts';
import { type Fields, withoutNulls } from '../json/fields.ts';
import { JSON_ONLY } from '../messages/write-output.ts';
import { noteDisabledParallelToolCalls } from '../single-tool-calls.ts';
import { cachePoint, createBlockWriter } from './write-blocks.ts';

/** Smallest thinking budget that Claude accepts, in tokens. */
const MIN_THINKING_BUDGET = 1024;

/**
 * Writes a neutral chat as a Converse request. Model and streaming are not in the body, but in the URL. Adds
 * unsupported parts to `losses`.
 */
export function writeConverse(chat: NeutralChat, losses: Losses): RequestBody {
  noteUnsupported(chat, losses);
  const systemParts = chat.messages.flatMap((message) => (message.role === 'system' ? message.content : []));
  const system = systemParts.flatMap(({ text, cached }): readonly Fields[] => [{ text }, ...cachePoint(cached)]);
  if (chat.outputForm?.form === 'json') system.push({ text: JSON_ONLY });
  const config = withoutNulls({
    maxTokens: chat.maxOutputTokens,
    temperature: chat.temperature,
    topP: chat.topP,
    stopSequences: chat.stop.length === 0 ? null : chat.stop,
  });
  const modelFields = writeModelFields(chat, losses);
  return withoutNulls({
    system: system.length === 0 ? null : system,
    messages: writeMessages(chat.messages, losses),
    inferenceConfig: Object.keys(config).length === 0 ? null : config,
    toolConfig: writeTools(chat, losses),
    additionalModelRequestFields: Object.keys(modelFields).length === 0 ? null : modelFields,
    outputConfig: chat.outputForm === null ? null : writeOutputForm(chat.outputForm, losses),
  });
}

/**
 * Adds to `losses` the settings that Converse supports for no model. A seed is only a hint, because no vendor
 * guarantees deterministic answers. A penalty of 0 is the default.
 */
function noteUnsupported(chat: NeutralChat, losses: Losses): void {
  if (chat.seed !== null) losses.hint('seed');
  if ((chat.frequencyPenalty ?? 0) !== 0) losses.essential('frequency_penalty');
  if ((chat.presencePenalty ?? 0) !== 0) losses.essential('presence_penalty');
  noteDisabledParallelToolCalls(chat, losses);
  if (chat.endUser !== null) losses.hint('user');
}

/** Turns of the conversation. Consecutive messages of one role become one turn. */
function writeMessages(messages: readonly NeutralMessage[], losses: Losses): readonly Fields[] {
  const writer = createBlockWriter(losses);
  const turns: { role: string; content: Fields[] }[] = [];
  let hasTurns = false;
  messages.forEach((message, index) => {
    const where = `messages[${index}]`;
    if (message.role === 'system') {
      // Converse has system text only at the start. Later system messages move there.
      if (hasTurns) losses.hint(`${where}.role`);
      return;
    }
    hasTurns = true;
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const content = writer.blocksOf(message, where);
    const last = turns.at(-1);
    if (last?.role === role) last.content.push(...content);
    else if (content.length > 0) turns.push({ role, content: [...content] });
  });
  return turns;
}

function writeTools({ tools, toolChoice, messages }: NeutralChat, losses: Losses): Fields | null {
  if (tools.length === 0) return null;
  if (toolChoice?.mode === 'none') {
    const hasToolResults = messages.some(({ role }) => role === 'tool');
    if (!hasToolResults) return null;
    // Converse requires the tools of tool results, and has no choice `none`. When the loss is allowed, `auto` is sent.
    losses.essential('tool_choice');
  }
  return withoutNulls({
    tools: tools.flatMap((tool) => [writeTool(tool), ...cachePoint(tool.cached)]),
    toolChoice: toolChoice === null ? null : writeToolChoice(toolChoice),
  });
}

const writeTool = ({ name, description, parameters, strict }: NeutralTool): Fields => ({
  // Converse rejects an empty description.
  toolSpec: withoutNulls({ name, description: description || null, inputSchema: { json: parameters }, strict }),
});

function writeToolChoice(choice: ToolChoice): Fields {
  if (choice.mode === 'tool') return { tool: { name: choice.name } };
  return choice.mode === 'required' ? { any: {} } : { auto: {} };
}

/** Settings that only some models support, in the format of the model's vendor. Adds unsupported ones to `losses`. */
function writeModelFields(chat: NeutralChat, losses: Losses): Fields {
  const { model, topK, reasoning } = chat;
  const isClaude = /anthropic|claude/i.test(model);
  const isNova = /amazon\.nova/i.test(model);
  const budget = reasoning === null ? 0 : (thoughtBudgetOf(reasoning) ?? 0);
  if (topK !== null && !isClaude && !isNova) losses.essential('top_k');
  const thinking = isClaude && budget > 0 ? writeThinking(chat, budget) : null;
  if (budget > 0 && !isClaude) losses.essential('reasoning_effort');
  else if (budget > 0 && thinking === null) losses.hint('reasoning_effort');
  return withoutNulls({
    top_k: isClaude ? topK : null,
    inferenceConfig: isNova && topK !== null ? { topK } : null,
    thinking,
  });
}

/** Thinking with a budget in tokens, below the output limit. Null when Claude would reject it. */
function writeThinking(chat: NeutralChat, budget: number): Fields | null {
  const { maxOutputTokens: outputLimit } = chat;
  const wantedTokens = Math.max(MIN_THINKING_BUDGET, budget);
  const tokens = outputLimit === null ? wantedTokens : Math.min(wantedTokens, outputLimit - 1);
  if (tokens < MIN_THINKING_BUDGET || forcesToolCall(chat) || hasResultWithoutThinking(chat.messages)) return null;
  return { type: 'enabled', budget_tokens: tokens };
}

function writeOutputForm(output: OutputForm, losses: Losses): Fields | null {
  if (output.form === 'text') return null;
  if (output.form === 'json') {
    // The system text JSON_ONLY asks for JSON. It does not bind the model as OpenAI's JSON mode does.
    losses.hint('response_format');
    return null;
  }
  const { name, description, schema } = output;
  const jsonSchema = withoutNulls({ name, description, schema: JSON.stringify(schema) });
  return { textFormat: { type: 'json_schema', structure: { jsonSchema } } };
}
