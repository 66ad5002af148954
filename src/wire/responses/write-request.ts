import type {
  AssistantPart,
  CacheMark,
  Losses,
  NeutralChat,
  NeutralMessage,
  NeutralTool,
  OutputForm,
  Reasoning,
  TextPart,
  ToolChoice,
  UserPart,
} from '../../domain/chat/neutral-chat.ts';
import { effortOf } from '../../domain/chat/reasoning.ts';
import type { RequestBody } from '../../domain/inference/request-validation.ts';
import { addressOf } from '../data-url.ts';
import { type Fields, withoutNulls } from '../json/fields.ts';

/** Writes a neutral chat as a Responses request with `store: false`. Adds unsupported parts to `losses`. */
export function writeResponseRequest(chat: NeutralChat, losses: Losses): RequestBody {
  noteUnsupported(chat, losses);
  const [first] = chat.messages;
  const hasInstructions = first?.role === 'system';
  const firstInput = hasInstructions ? 1 : 0;
  const effort = chat.reasoning === null ? null : effortOf(chat.reasoning);
  const thinks = chat.reasoning !== null && effort !== 'none';
  return withoutNulls({
    model: chat.model,
    instructions: hasInstructions ? writeTexts(first.content, 'messages[0]', losses) : null,
    input: chat.messages
      .slice(firstInput)
      .flatMap((message, index) => writeMessage(message, `messages[${firstInput + index}]`, losses)),
    stream: chat.stream ? true : null,
    tools: chat.tools.length === 0 ? null : chat.tools.map((tool, index) => writeTool(tool, `tools[${index}]`, losses)),
    tool_choice: chat.toolChoice === null ? null : writeToolChoice(chat.toolChoice),
    parallel_tool_calls: chat.parallelToolCalls,
    max_output_tokens: chat.maxOutputTokens,
    temperature: chat.temperature,
    top_p: chat.topP,
    text: chat.outputForm === null ? null : { format: writeOutputForm(chat.outputForm) },
    reasoning: chat.reasoning === null ? null : writeReasoning(effort, chat.reasoning),
    // The upstream stores nothing, so the next request must contain the encrypted reasoning.
    include: thinks ? ['reasoning.encrypted_content'] : null,
    store: false,
    user: chat.endUser,
  });
}

/** Adds unsupported settings to `losses`. */
function noteUnsupported(chat: NeutralChat, losses: Losses): void {
  if (chat.topK !== null) losses.essential('top_k');
  if (chat.stop.length > 0) losses.essential('stop');
  if ((chat.frequencyPenalty ?? 0) !== 0) losses.essential('frequency_penalty');
  if ((chat.presencePenalty ?? 0) !== 0) losses.essential('presence_penalty');
  // Only a hint: vendors do not guarantee deterministic answers.
  if (chat.seed !== null) losses.hint('seed');
}

function writeMessage(message: NeutralMessage, where: string, losses: Losses): readonly Fields[] {
  switch (message.role) {
    case 'system':
      return [{ role: 'system', content: writeTexts(message.content, where, losses) }];
    case 'user':
      return [{ role: 'user', content: writeParts(message.content, where, losses) }];
    case 'assistant':
      return writeAnswer(message.content, where, losses);
    case 'tool':
      return message.results.map(({ callId, content, cached, failed }) => {
        noteCacheMark(cached, where, losses);
        if (failed) losses.hint(`${where}.is_error`);
        return { type: 'function_call_output', call_id: callId, output: writeParts(content, where, losses) };
      });
  }
}

function writeTexts(parts: readonly TextPart[], where: string, losses: Losses): string {
  for (const { cached } of parts) noteCacheMark(cached, where, losses);
  return parts.map(({ text }) => text).join('\n\n');
}

function writeParts(parts: readonly UserPart[], where: string, losses: Losses): string | readonly Fields[] {
  const [first] = parts;
  if (first === undefined) return '';
  if (parts.length === 1 && first.kind === 'text' && first.cached === undefined) return first.text;
  return parts.flatMap((part, index) => writePart(part, `${where}.content[${index}]`, losses));
}

function writePart(part: UserPart, where: string, losses: Losses): readonly Fields[] {
  if (part.kind === 'audio') {
    losses.essential(where);
    return [];
  }
  noteCacheMark(part.cached, where, losses);
  if (part.kind === 'text') return [{ type: 'input_text', text: part.text }];
  const { source } = part;
  const id = source.form === 'id' ? source.id : null;
  const url = addressOf(source);
  if (part.kind === 'image')
    return [withoutNulls({ type: 'input_image', image_url: url, file_id: id, detail: part.detail ?? 'auto' })];
  const inline = source.form === 'data';
  return [
    withoutNulls({
      type: 'input_file',
      file_data: inline ? url : null,
      file_url: inline ? null : url,
      file_id: id,
      filename: part.name ?? (inline ? 'document' : null),
    }),
  ];
}

/** Adds a cache mark to `losses`. Upstreams of this dialect cache prompts automatically. */
function noteCacheMark(mark: CacheMark | undefined, where: string, losses: Losses): void {
  if (mark !== undefined) losses.hint(`${where}.cache_control`);
}

/** Prefix of OpenAI's encrypted reasoning. */
const OPENAI_PROOF = /^gAAAA/;

/** Whether a proof is OpenAI's encrypted reasoning. OpenAI rejects requests with the proof of another vendor. */
export const isOpenAiProof = (proof: unknown): proof is string => typeof proof === 'string' && OPENAI_PROOF.test(proof);

function writeAnswer(parts: readonly AssistantPart[], where: string, losses: Losses): readonly Fields[] {
  return parts.flatMap((part): Fields[] => {
    switch (part.kind) {
      case 'text':
        noteCacheMark(part.cached, where, losses);
        return [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: part.text }] }];
      case 'refusal':
        return [{ type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: part.text }] }];
      case 'toolCall':
        if (part.proof !== undefined) losses.hint(`${where}.tool_calls.proof`);
        return [{ type: 'function_call', call_id: part.id, name: part.name, arguments: part.arguments }];
      case 'reasoning': {
        if (!isOpenAiProof(part.proof)) {
          losses.hint(`${where}.reasoning`);
          return [];
        }
        const summary = part.text === '' ? [] : [{ type: 'summary_text', text: part.text }];
        return [{ type: 'reasoning', summary, encrypted_content: part.proof }];
      }
    }
  });
}

function writeTool(
  { name, description, parameters, strict, cached }: NeutralTool,
  where: string,
  losses: Losses,
): Fields {
  noteCacheMark(cached, where, losses);
  // Tools of this API are strict by default. Tools of other dialects are not, so `false` is sent.
  return withoutNulls({ type: 'function', name, description, parameters, strict: strict ?? false });
}

const writeToolChoice = (choice: ToolChoice): unknown =>
  choice.mode === 'tool' ? { type: 'function', name: choice.name } : choice.mode;

function writeOutputForm(output: OutputForm): Fields {
  if (output.form === 'text') return { type: 'text' };
  if (output.form === 'json') return { type: 'json_object' };
  const { name, description, schema, strict } = output;
  return withoutNulls({ type: 'json_schema', name, description, schema, strict });
}

const writeReasoning = (effort: string | null, { shown }: Reasoning): Fields =>
  withoutNulls({ effort, summary: shown === true ? 'auto' : null });
