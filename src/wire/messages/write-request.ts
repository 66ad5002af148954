import type { Losses, NeutralChat, NeutralTool, ToolChoice } from '../../domain/chat/neutral-chat.ts';
import type { RequestBody } from '../../domain/inference/request-validation.ts';
import { type Fields, withoutNulls } from '../json/fields.ts';
import { type ModelFeatures, featuresOf } from './model-features.ts';
import { cacheControl, writeMessages, writeSystem } from './write-messages.ts';
import { JSON_ONLY, writeOutput } from './write-output.ts';
import { writeThinking } from './write-thinking.ts';

/** Settings of upstreams with this dialect. */
export interface MessagesForm {
  /** Maximum output tokens when the caller sets no limit. This dialect requires a limit. */
  readonly maxTokens: number;
}

/** Writes a neutral chat as a messages request. Adds unsupported parts to `losses`. Throws InvalidInput. */
export function writeMessagesRequest(chat: NeutralChat, losses: Losses, { maxTokens }: MessagesForm): RequestBody {
  const features = featuresOf(chat.model);
  noteUnsupported(chat, losses);
  const output = writeOutput(chat.outputForm, features, losses);
  const answersByTool = output.tools.length > 0;
  const thinking = writeThinking(chat, features, { maxTokens, answersByTool }, losses);
  const outputConfig = withoutNulls({ effort: thinking.effort, format: output.format });
  const tools = [
    ...chat.tools.map((tool, index) => writeTool(tool, `tools[${index}]`, features, losses)),
    ...output.tools,
  ];
  return withoutNulls({
    model: chat.model,
    max_tokens: thinking.maxTokens,
    system: writeSystem(chat.messages, output.jsonOnly ? JSON_ONLY : null),
    messages: writeMessages(chat.messages, losses),
    stream: chat.stream ? true : null,
    tools: tools.length === 0 ? null : tools,
    tool_choice: toolChoiceOf(chat, answersByTool),
    stop_sequences: stopSequencesOf(chat.stop, losses),
    temperature: chat.temperature,
    top_p: chat.topP,
    top_k: chat.topK,
    thinking: thinking.thinking,
    output_config: Object.keys(outputConfig).length === 0 ? null : outputConfig,
    metadata: chat.endUser === null ? null : { user_id: chat.endUser },
  });
}

/** Adds unsupported settings to `losses`. A seed is only a hint, because no vendor guarantees deterministic answers. */
function noteUnsupported(chat: NeutralChat, losses: Losses): void {
  if (chat.seed !== null) losses.hint('seed');
  if ((chat.frequencyPenalty ?? 0) !== 0) losses.essential('frequency_penalty');
  if ((chat.presencePenalty ?? 0) !== 0) losses.essential('presence_penalty');
}

function writeTool(tool: NeutralTool, where: string, { structured }: ModelFeatures, losses: Losses): Fields {
  if (tool.strict === true && !structured) losses.hint(`${where}.strict`);
  return withoutNulls({
    name: tool.name,
    description: tool.description,
    input_schema: { type: 'object', ...tool.parameters },
    strict: tool.strict === true && structured ? true : null,
    cache_control: cacheControl(tool.cached),
  });
}

function toolChoiceOf({ tools, toolChoice, parallelToolCalls }: NeutralChat, answersByTool: boolean): Fields | null {
  if (answersByTool) return { type: 'any' };
  if (tools.length === 0) return null;
  if (toolChoice === null && parallelToolCalls !== false) return null;
  const choice = writeToolChoice(toolChoice ?? { mode: 'auto' });
  const allowsSingleCall = parallelToolCalls === false && choice['type'] !== 'none';
  return allowsSingleCall ? { ...choice, disable_parallel_tool_use: true } : choice;
}

function writeToolChoice(choice: ToolChoice): Fields {
  switch (choice.mode) {
    case 'auto':
    case 'none':
      return { type: choice.mode };
    case 'required':
      return { type: 'any' };
    case 'tool':
      return { type: 'tool', name: choice.name };
  }
}

/** Stop sequences without blank ones, which Anthropic rejects. Null when none remain. */
function stopSequencesOf(stop: readonly string[], losses: Losses): readonly string[] | null {
  const accepted = stop.filter((sequence) => sequence.trim() !== '');
  if (accepted.length < stop.length) losses.essential('stop');
  return accepted.length === 0 ? null : accepted;
}
