import type {
  AssistantPart,
  CacheMark,
  Losses,
  NeutralChat,
  NeutralMessage,
  OutputForm,
  Reasoning,
  TextPart,
  ToolResult,
  UserPart,
} from '../../domain/chat/neutral-chat.ts';
import { effortOf, thoughtBudgetOf } from '../../domain/chat/reasoning.ts';
import type { RequestBody } from '../../domain/inference/request-validation.ts';
import { addressOf } from '../data-url.ts';
import { type Fields, withoutNulls } from '../json/fields.ts';
import { noteDisabledParallelToolCalls } from '../single-tool-calls.ts';
import { nullIfEmpty } from '../../domain/optional-text.ts';

/** Writes a neutral chat as a request of Cohere's chat API v2. Adds unsupported parts to `losses`. */
export function writeCohere(chat: NeutralChat, losses: Losses): RequestBody {
  noteDisabledParallelToolCalls(chat, losses);
  if (chat.endUser !== null) losses.hint('user');
  return withoutNulls({
    model: chat.model,
    stream: chat.stream,
    messages: chat.messages.flatMap((message, index) => writeMessage(message, `messages[${index}]`, losses)),
    ...writeTools(chat, losses),
    max_tokens: chat.maxOutputTokens,
    temperature: chat.temperature,
    p: chat.topP,
    k: chat.topK,
    stop_sequences: chat.stop.length === 0 ? null : chat.stop,
    seed: chat.seed,
    frequency_penalty: chat.frequencyPenalty,
    presence_penalty: chat.presencePenalty,
    response_format: chat.outputForm === null ? null : writeOutputForm(chat.outputForm),
    thinking: chat.reasoning === null ? null : writeReasoning(chat.reasoning),
  });
}

const TOOL_CHOICES = { auto: null, none: 'NONE', required: 'REQUIRED', tool: 'REQUIRED' } as const;

function writeTools({ tools, toolChoice }: NeutralChat, losses: Losses): Fields {
  tools.forEach(({ cached }, index) => noteCacheMark(cached, `tools[${index}]`, losses));
  // Cohere cannot require a specific tool. So only that tool is sent, with the choice REQUIRED.
  const offeredTools = toolChoice?.mode === 'tool' ? tools.filter(({ name }) => name === toolChoice.name) : tools;
  if (offeredTools.length === 0) return {};
  return {
    tools: offeredTools.map(({ name, description, parameters }) => ({
      type: 'function',
      function: withoutNulls({ name, description, parameters }),
    })),
    ...(offeredTools.some(({ strict }) => strict === true) ? { strict_tools: true } : {}),
    tool_choice: TOOL_CHOICES[toolChoice?.mode ?? 'auto'],
  };
}

function writeMessage(message: NeutralMessage, where: string, losses: Losses): readonly Fields[] {
  switch (message.role) {
    case 'system':
      for (const { cached } of message.content) noteCacheMark(cached, where, losses);
      return [{ role: 'system', content: message.content.map(({ text }) => text).join('\n\n') }];
    case 'user':
      return [{ role: 'user', content: writeParts(message.content, where, losses) }];
    case 'assistant':
      return [writeAssistant(message.content, where, losses)];
    case 'tool':
      return message.results.map((result) => writeResult(result, where, losses));
  }
}

function writeParts(parts: readonly UserPart[], where: string, losses: Losses): string | readonly Fields[] {
  const [only] = parts;
  if (parts.length === 1 && only?.kind === 'text' && only.cached === undefined) return only.text;
  return parts.flatMap((part, index): readonly Fields[] => {
    const place = `${where}.content[${index}]`;
    if (part.kind !== 'audio') noteCacheMark(part.cached, place, losses);
    if (part.kind === 'text') return [{ type: 'text', text: part.text }];
    const url = part.kind === 'image' ? addressOf(part.source) : null;
    if (part.kind === 'image' && url !== null)
      return [{ type: 'image_url', image_url: withoutNulls({ url, detail: part.detail }) }];
    losses.essential(place);
    return [];
  });
}

/** Writes an assistant message. With tool calls, reasoning becomes `tool_plan`. Without tool calls, it is dropped. */
function writeAssistant(parts: readonly AssistantPart[], where: string, losses: Losses): Fields {
  const textParts = parts.filter((part): part is TextPart => part.kind === 'text');
  for (const { cached } of textParts) noteCacheMark(cached, where, losses);
  const refusals = parts.flatMap((part) => (part.kind === 'refusal' ? [part.text] : []));
  const reasoning = parts.flatMap((part) => (part.kind === 'reasoning' ? [part.text] : [])).join('');
  const calls = parts.flatMap((part) => (part.kind === 'toolCall' ? [part] : []));
  if (reasoning !== '' && calls.length === 0) losses.hint(`${where}.reasoning`);
  if (calls.some(({ proof }) => proof !== undefined)) losses.hint(`${where}.tool_calls.proof`);
  const content = [...textParts.map(({ text }) => text), ...refusals].join('');
  return withoutNulls({
    role: 'assistant',
    content: nullIfEmpty(content),
    tool_plan: reasoning !== '' && calls.length > 0 ? reasoning : null,
    tool_calls:
      calls.length === 0
        ? null
        : calls.map(({ id, name, arguments: text }) => ({
            id,
            type: 'function',
            function: { name, arguments: text === '' ? '{}' : text },
          })),
  });
}

function writeResult({ callId, content, cached, failed }: ToolResult, where: string, losses: Losses): Fields {
  noteCacheMark(cached, where, losses);
  if (failed) losses.hint(`${where}.is_error`);
  const texts = content.flatMap((part, index) => {
    if (part.kind === 'text') return [part.text];
    losses.essential(`${where}.content[${index}]`);
    return [];
  });
  return { role: 'tool', tool_call_id: callId, content: texts.join('\n') };
}

function noteCacheMark(mark: CacheMark | undefined, where: string, losses: Losses): void {
  if (mark !== undefined) losses.hint(`${where}.cache_control`);
}

function writeOutputForm(output: OutputForm): Fields {
  if (output.form === 'text') return { type: 'text' };
  return withoutNulls({ type: 'json_object', json_schema: output.form === 'schema' ? output.schema : null });
}

function writeReasoning(reasoning: Reasoning): Fields {
  if (effortOf(reasoning) === 'none') return { type: 'disabled' };
  return withoutNulls({ type: 'enabled', token_budget: thoughtBudgetOf(reasoning) });
}
