import type {
  Losses,
  NeutralChat,
  NeutralMessage,
  NeutralTool,
  OutputForm,
  ToolChoice,
} from '../../domain/chat/neutral-chat.ts';
import { thoughtBudgetOf } from '../../domain/chat/reasoning.ts';
import type { RequestBody } from '../../domain/inference/askable.ts';
import { type Fields, withoutNulls } from '../json/fields.ts';
import { JSON_ONLY } from '../messages/write-output.ts';
import { noteSingleToolCalls } from '../single-calls.ts';
import { cachePoint, createBlockWriter } from './write-blocks.ts';

/** Fewest tokens of thought that Claude takes. */
const LEAST_THOUGHT = 1024;

/** A chat as a request of Converse. Its model and whether it streams stand in the path, not here. */
export function writeConverse(chat: NeutralChat, losses: Losses): RequestBody {
  noteUnsaid(chat, losses);
  const said = chat.messages.flatMap((message) => (message.role === 'system' ? message.content : []));
  const system = said.flatMap(({ text, cached }): readonly Fields[] => [{ text }, ...cachePoint(cached)]);
  if (chat.outputForm?.form === 'json') system.push({ text: JSON_ONLY });
  const config = withoutNulls({
    maxTokens: chat.maxOutputTokens,
    temperature: chat.temperature,
    topP: chat.topP,
    stopSequences: chat.stop.length === 0 ? null : chat.stop,
  });
  const further = writeFurther(chat, losses);
  return withoutNulls({
    system: system.length === 0 ? null : system,
    messages: writeMessages(chat.messages, losses),
    inferenceConfig: Object.keys(config).length === 0 ? null : config,
    toolConfig: writeTools(chat, losses),
    additionalModelRequestFields: Object.keys(further).length === 0 ? null : further,
    outputConfig: chat.outputForm === null ? null : writeOutputForm(chat.outputForm, losses),
  });
}

/** What Converse has no words for, whatever the model. A seed is a wish that nobody promises to fulfil; a penalty of zero is none. */
function noteUnsaid(chat: NeutralChat, losses: Losses): void {
  if (chat.seed !== null) losses.hint('seed');
  if ((chat.frequencyPenalty ?? 0) !== 0) losses.essential('frequency_penalty');
  if ((chat.presencePenalty ?? 0) !== 0) losses.essential('presence_penalty');
  noteSingleToolCalls(chat, losses);
  if (chat.endUser !== null) losses.hint('user');
}

/** The turns; those of one role that follow each other are one. */
function writeMessages(messages: readonly NeutralMessage[], losses: Losses): readonly Fields[] {
  const writer = createBlockWriter(losses);
  const turns: { role: string; content: Fields[] }[] = [];
  let spoken = false;
  messages.forEach((message, index) => {
    const where = `messages[${index}]`;
    if (message.role === 'system') {
      // What the system says later is said at the beginning here.
      if (spoken) losses.hint(`${where}.role`);
      return;
    }
    spoken = true;
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
    // Who may call nothing needs no tools, unless the talk so far shows some.
    if (messages.every(({ role }) => role !== 'tool')) return null;
    losses.essential('tool_choice');
  }
  return withoutNulls({
    tools: tools.flatMap((tool) => [writeTool(tool), ...cachePoint(tool.cached)]),
    toolChoice: toolChoice === null ? null : writeToolChoice(toolChoice),
  });
}

const writeTool = ({ name, description, parameters, strict }: NeutralTool): Fields => ({
  // An empty description is refused.
  toolSpec: withoutNulls({ name, description: description || null, inputSchema: { json: parameters }, strict }),
});

function writeToolChoice(choice: ToolChoice): Fields {
  if (choice.mode === 'tool') return { tool: { name: choice.name } };
  return choice.mode === 'required' ? { any: {} } : { auto: {} };
}

/** What only models of one maker know, in that maker's words. */
function writeFurther({ model, topK, reasoning, maxOutputTokens }: NeutralChat, losses: Losses): Fields {
  const isClaude = /anthropic|claude/i.test(model);
  const isNova = /amazon\.nova/i.test(model);
  const budget = reasoning === null ? null : thoughtBudgetOf(reasoning);
  if (topK !== null && !isClaude && !isNova) losses.essential('top_k');
  if (budget !== null && !isClaude) losses.essential('reasoning_effort');
  return withoutNulls({
    top_k: isClaude ? topK : null,
    inferenceConfig: isNova && topK !== null ? { topK } : null,
    thinking:
      isClaude && budget !== null && budget > 0
        ? { type: 'enabled', budget_tokens: fitting(budget, maxOutputTokens) }
        : null,
  });
}

/** Thought must leave room for an answer. */
function fitting(budget: number, most: number | null): number {
  return Math.max(LEAST_THOUGHT, most === null ? budget : Math.min(budget, most - 1));
}

function writeOutputForm(output: OutputForm, losses: Losses): Fields | null {
  if (output.form === 'text') return null;
  if (output.form === 'json') {
    // Asked for in words: nothing makes the model keep to it, as OpenAI's mode would.
    losses.hint('response_format');
    return null;
  }
  const { name, description, schema } = output;
  const jsonSchema = withoutNulls({ name, description, schema: JSON.stringify(schema) });
  return { textFormat: { type: 'json_schema', structure: { jsonSchema } } };
}
