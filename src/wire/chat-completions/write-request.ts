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
import type { RequestBody } from '../../domain/inference/askable.ts';
import { addressOf } from '../data-url.ts';
import { type Fields, withoutNulls } from '../json/fields.ts';
import { proofOf } from './write-answer.ts';

/** In what upstreams of this dialect differ. */
export interface ChatCompletionsForm {
  /** OpenAI's newer models refuse `max_tokens`; others do not know its successor. */
  readonly maxTokensMember: 'max_tokens' | 'max_completion_tokens';
}

/** A chat as a request for a chat completion. */
export function writeChat(chat: NeutralChat, losses: Losses, { maxTokensMember }: ChatCompletionsForm): RequestBody {
  if (chat.topK !== null) losses.essential('top_k');
  return withoutNulls({
    model: chat.model,
    messages: chat.messages.flatMap((message, index) => writeMessage(message, `messages[${index}]`, losses)),
    stream: chat.stream ? true : null,
    stream_options: chat.stream ? { include_usage: true } : null,
    tools: chat.tools.length === 0 ? null : chat.tools.map(writeTool),
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
      return [writeAnswer(message.content, where, losses)];
    case 'tool':
      return writeResults(message.results, where, losses);
  }
}

function writeTexts(parts: readonly TextPart[], where: string, losses: Losses): string {
  for (const { cached } of parts) noteMark(cached, where, losses);
  return parts.map(({ text }) => text).join('\n\n');
}

/** A tool's result may be text only here: what else it holds follows as a message of the user, and says where it is from. */
function writeResults(results: readonly ToolResult[], where: string, losses: Losses): readonly Fields[] {
  const further: Fields[] = [];
  const written = results.map(({ callId, content, cached, failed }) => {
    noteMark(cached, where, losses);
    if (failed) losses.hint(`${where}.is_error`);
    const said = content.flatMap((part) => (part.kind === 'text' ? [part.text] : []));
    const shown = content.filter(({ kind }) => kind !== 'text');
    if (shown.length > 0) further.push({ type: 'text', text: `The result of ${callId}:` });
    further.push(...shown.flatMap((part) => writePart(part, `${where}.content`, losses)));
    return { role: 'tool', tool_call_id: callId, content: said.join('\n') };
  });
  return further.length === 0 ? written : [...written, { role: 'user', content: further }];
}

function writeParts(parts: readonly UserPart[], where: string, losses: Losses): string | readonly Fields[] {
  const [only] = parts;
  if (parts.length === 1 && only?.kind === 'text' && only.cached === undefined) return only.text;
  return parts.flatMap((part, index) => writePart(part, `${where}.content[${index}]`, losses));
}

function writePart(part: UserPart, where: string, losses: Losses): readonly Fields[] {
  if (part.kind !== 'audio') noteMark(part.cached, where, losses);
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

/** Upstreams of this dialect cache by themselves. */
function noteMark(mark: CacheMark | undefined, where: string, losses: Losses): void {
  if (mark !== undefined) losses.hint(`${where}.cache_control`);
}

function writeAnswer(parts: readonly AssistantPart[], where: string, losses: Losses): Fields {
  const said = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []));
  const refused = parts.flatMap((part) => (part.kind === 'refusal' ? [part.text] : []));
  const calls = parts.flatMap((part) => (part.kind === 'toolCall' ? [part] : []));
  // Thoughts are not sent back in this dialect, and what one upstream proves is nothing to another.
  if (parts.some(({ kind }) => kind === 'reasoning')) losses.hint(`${where}.reasoning`);
  return {
    role: 'assistant',
    content: said.length === 0 ? null : said.join(''),
    ...(refused.length === 0 ? {} : { refusal: refused.join('') }),
    ...(calls.length === 0
      ? {}
      : {
          tool_calls: calls.map(({ id, name, arguments: text, proof }) => ({
            id,
            type: 'function',
            function: { name, arguments: text },
            ...(proof === undefined ? {} : proofOf(proof)),
          })),
        }),
  };
}

const writeTool = ({ name, description, parameters, strict }: NeutralTool): Fields => ({
  type: 'function',
  function: withoutNulls({ name, description, parameters, strict }),
});

const writeToolChoice = (choice: ToolChoice): unknown =>
  choice.mode === 'tool' ? { type: 'function', function: { name: choice.name } } : choice.mode;

function writeOutputForm(output: OutputForm): Fields {
  if (output.form === 'text') return { type: 'text' };
  if (output.form === 'json') return { type: 'json_object' };
  const { name, description, schema, strict } = output;
  return { type: 'json_schema', json_schema: withoutNulls({ name, description, schema, strict }) };
}
