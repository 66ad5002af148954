import type {
  AssistantPart,
  CacheMark,
  Losses,
  NeutralChat,
  NeutralMessage,
  NeutralTool,
  OutputForm,
  TextPart,
  ToolChoice,
  ToolResult,
  UserPart,
} from '../../domain/chat/neutral-chat.ts';
import { effortOf } from '../../domain/chat/reasoning.ts';
import type { RequestBody } from '../../domain/inference/request-validation.ts';
import { addressOf } from '../data-url.ts';
import { type Fields, withoutNulls } from '../json/fields.ts';
import { thoughtSignatureFields } from './write-answer.ts';

/** Differences between upstreams of this dialect. */
export interface ChatCompletionsForm {
  /**
   * Member for the output limit. OpenAI's newer models reject `max_tokens`; many other vendors support only
   * `max_tokens`.
   */
  readonly maxTokensMember: 'max_tokens' | 'max_completion_tokens';
}

/** Writes a neutral chat as a chat-completions request. Adds unsupported parts to `losses`. */
export function writeChat(chat: NeutralChat, losses: Losses, { maxTokensMember }: ChatCompletionsForm): RequestBody {
  if (chat.topK !== null) losses.essential('top_k');
  return withoutNulls({
    model: chat.model,
    messages: chat.messages.flatMap((message, index) => writeMessage(message, `messages[${index}]`, losses)),
    stream: chat.stream ? true : null,
    stream_options: chat.stream ? { include_usage: true } : null,
    tools: chat.tools.length === 0 ? null : chat.tools.map((tool, index) => writeTool(tool, `tools[${index}]`, losses)),
    tool_choice: chat.toolChoice === null ? null : writeToolChoice(chat.toolChoice),
    parallel_tool_calls: chat.parallelToolCalls,
    [maxTokensMember]: chat.maxOutputTokens,
    temperature: chat.temperature,
    top_p: chat.topP,
    stop: chat.stop.length === 0 ? null : chat.stop,
    seed: chat.seed,
    frequency_penalty: chat.frequencyPenalty,
    presence_penalty: chat.presencePenalty,
    response_format: chat.outputForm === null ? null : writeOutputForm(chat.outputForm),
    reasoning_effort: chat.reasoning === null ? null : effortOf(chat.reasoning),
    user: chat.endUser,
  });
}

function writeMessage(message: NeutralMessage, where: string, losses: Losses): readonly Fields[] {
  switch (message.role) {
    case 'system':
      return [{ role: 'system', content: writeTexts(message.content, where, losses) }];
    case 'user':
      return [{ role: 'user', content: writeParts(message.content, where, losses) }];
    case 'assistant':
      return [writeAssistant(message.content, where, losses)];
    case 'tool':
      return writeResults(message.results, where, losses);
  }
}

function writeTexts(parts: readonly TextPart[], where: string, losses: Losses): string {
  for (const { cached } of parts) noteCacheMark(cached, where, losses);
  return parts.map(({ text }) => text).join('\n\n');
}

/** Tool results contain only text in this dialect. Other parts follow in a user message that names the call. */
function writeResults(results: readonly ToolResult[], where: string, losses: Losses): readonly Fields[] {
  const attachments: Fields[] = [];
  const toolMessages = results.map(({ callId, content, cached, failed }) => {
    noteCacheMark(cached, where, losses);
    if (failed) losses.hint(`${where}.is_error`);
    const texts = content.flatMap((part) => (part.kind === 'text' ? [part.text] : []));
    const others = content.filter(({ kind }) => kind !== 'text');
    if (others.length > 0) attachments.push({ type: 'text', text: `The result of ${callId}:` });
    attachments.push(...others.flatMap((part) => writePart(part, `${where}.content`, losses)));
    return { role: 'tool', tool_call_id: callId, content: texts.join('\n') };
  });
  return attachments.length === 0 ? toolMessages : [...toolMessages, { role: 'user', content: attachments }];
}

function writeParts(parts: readonly UserPart[], where: string, losses: Losses): string | readonly Fields[] {
  const [only] = parts;
  if (parts.length === 1 && only?.kind === 'text' && only.cached === undefined) return only.text;
  return parts.flatMap((part, index) => writePart(part, `${where}.content[${index}]`, losses));
}

function writePart(part: UserPart, where: string, losses: Losses): readonly Fields[] {
  if (part.kind !== 'audio') noteCacheMark(part.cached, where, losses);
  const source = part.kind === 'text' ? null : part.source;
  const url = source === null ? null : addressOf(source);
  switch (part.kind) {
    case 'text':
      return [{ type: 'text', text: part.text }];
    case 'image':
      if (url === null) break;
      return [{ type: 'image_url', image_url: withoutNulls({ url, detail: part.detail }) }];
    case 'file':
      if (source?.form === 'id')
        return [{ type: 'file', file: withoutNulls({ file_id: source.id, filename: part.name }) }];
      if (source?.form !== 'data') break;
      return [{ type: 'file', file: { file_data: url, filename: part.name ?? 'document' } }];
    case 'audio':
      if (source?.form !== 'data') break;
      return [
        { type: 'input_audio', input_audio: { data: source.base64, format: source.mediaType.replace(/^.*\//, '') } },
      ];
  }
  losses.essential(where);
  return [];
}

/** Adds a cache mark to `losses`. Upstreams of this dialect cache prompts automatically. */
function noteCacheMark(mark: CacheMark | undefined, where: string, losses: Losses): void {
  if (mark !== undefined) losses.hint(`${where}.cache_control`);
}

function writeAssistant(parts: readonly AssistantPart[], where: string, losses: Losses): Fields {
  const texts = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []));
  const refusals = parts.flatMap((part) => (part.kind === 'refusal' ? [part.text] : []));
  const calls = parts.flatMap((part) => (part.kind === 'toolCall' ? [part] : []));
  // Earlier reasoning is not sent: its proof is valid only at the upstream that created it.
  if (parts.some(({ kind }) => kind === 'reasoning')) losses.hint(`${where}.reasoning`);
  return {
    role: 'assistant',
    content: texts.length === 0 ? null : texts.join(''),
    ...(refusals.length === 0 ? {} : { refusal: refusals.join('') }),
    ...(calls.length === 0
      ? {}
      : {
          tool_calls: calls.map(({ id, name, arguments: text, proof }) => ({
            id,
            type: 'function',
            function: { name, arguments: text },
            ...(proof === undefined ? {} : thoughtSignatureFields(proof)),
          })),
        }),
  };
}

function writeTool(
  { name, description, parameters, strict, cached }: NeutralTool,
  where: string,
  losses: Losses,
): Fields {
  noteCacheMark(cached, where, losses);
  return { type: 'function', function: withoutNulls({ name, description, parameters, strict }) };
}

const writeToolChoice = (choice: ToolChoice): unknown =>
  choice.mode === 'tool' ? { type: 'function', function: { name: choice.name } } : choice.mode;

function writeOutputForm(output: OutputForm): Fields {
  if (output.form === 'text') return { type: 'text' };
  if (output.form === 'json') return { type: 'json_object' };
  const { name, description, schema, strict } = output;
  return { type: 'json_schema', json_schema: withoutNulls({ name, description, schema, strict }) };
}
