import type { Losses, NeutralChat, NeutralTool, ToolChoice } from '../../domain/chat/neutral-chat.ts';
import type { RequestBody } from '../../domain/inference/askable.ts';
import { type Fields, withoutNulls } from '../json/fields.ts';
import { type ModelFeatures, featuresOf } from './model-features.ts';
import { cacheControl, writeMessages, writeSystem } from './write-messages.ts';
import { JSON_ONLY, writeOutput } from './write-output.ts';
import { writeThought } from './write-thought.ts';

/** In what upstreams of this dialect differ. */
export interface MessagesForm {
  /** Most tokens of an answer whose caller sets no limit: this dialect demands one. */
  readonly maxTokens: number;
}

/** A chat as a request for a message. */
export function writeMessagesRequest(chat: NeutralChat, losses: Losses, { maxTokens }: MessagesForm): RequestBody {
  const features = featuresOf(chat.model);
  noteUnsaid(chat, losses);
  const thought = writeThought(chat, features, maxTokens, losses);
  const output = writeOutput(chat.outputForm, features, losses);
  const outputConfig = withoutNulls({ effort: thought.effort, format: output.format });
  const tools = [
    ...chat.tools.map((tool, index) => writeTool(tool, `tools[${index}]`, features, losses)),
    ...output.tools,
  ];
  return withoutNulls({
    model: chat.model,
    max_tokens: thought.maxTokens,
    system: writeSystem(chat.messages, output.jsonOnly ? JSON_ONLY : null),
    messages: writeMessages(chat.messages, losses),
    stream: chat.stream ? true : null,
    tools: tools.length === 0 ? null : tools,
    tool_choice: toolChoiceOf(chat, output.tools.length > 0),
    stop_sequences: stopSequencesOf(chat.stop, losses),
    temperature: chat.temperature,
    top_p: chat.topP,
    top_k: chat.topK,
    thinking: thought.thinking,
    output_config: Object.keys(outputConfig).length === 0 ? null : outputConfig,
    metadata: chat.endUser === null ? null : { user_id: chat.endUser },
  });
}

/** What this dialect has no words for. A seed is a wish that OpenAI does not promise to fulfil either. */
function noteUnsaid(chat: NeutralChat, losses: Losses): void {
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
  const single = parallelToolCalls === false && choice['type'] !== 'none';
  return single ? { ...choice, disable_parallel_tool_use: true } : choice;
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

/** Sequences of nothing but space are refused here. */
function stopSequencesOf(stop: readonly string[], losses: Losses): readonly string[] | null {
  const taken = stop.filter((sequence) => sequence.trim() !== '');
  if (taken.length < stop.length) losses.essential('stop');
  return taken.length === 0 ? null : taken;
}
