import { isJsonObject } from '../../domain/json-object.ts';
import type {
  AssistantPart,
  CacheMark,
  Losses,
  NeutralMessage,
  Source,
  ToolCallPart,
  ToolResult,
  UserPart,
} from '../../domain/chat/neutral-chat.ts';
import { type Fields, withoutNulls, parseJson } from '../json/fields.ts';
import { malformed } from '../malformed.ts';

/** One turn of the conversation. */
interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: readonly Fields[];
}

/** Content of the user turn that is added where no user turn comes first, because Anthropic requires one. */
const PLACEHOLDER_TEXT: Fields = { type: 'text', text: '.' };

/** System prompt: all system messages in order, then `addition`. Null when there is none. */
export function writeSystem(messages: readonly NeutralMessage[], addition: string | null): readonly Fields[] | null {
  const blocks = messages
    .flatMap((message) => (message.role === 'system' ? message.content : []))
    .flatMap(({ text, cached }) => textBlock(text, cached));
  if (addition !== null) blocks.push({ type: 'text', text: addition });
  return blocks.length === 0 ? null : blocks;
}

/**
 * Messages that are not system messages, as turns. Consecutive messages of one role become one turn. Throws
 * InvalidInput for tool arguments that are not a JSON object.
 */
export function writeMessages(messages: readonly NeutralMessage[], losses: Losses): readonly Turn[] {
  const turns: Turn[] = [];
  messages.forEach((message, index) => {
    const where = `messages[${index}]`;
    if (message.role === 'system') {
      // The message moves to the system prompt, so it applies from the start.
      if (messages.slice(0, index).some(({ role }) => role !== 'system')) losses.hint(`${where}.role`);
      return;
    }
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const content = blocksOf(message, where, losses);
    const last = turns.at(-1);
    if (content.length === 0) return;
    if (last?.role === role) turns[turns.length - 1] = { role, content: [...last.content, ...content] };
    else turns.push({ role, content });
  });
  return turns[0]?.role === 'user' ? turns : [{ role: 'user', content: [PLACEHOLDER_TEXT] }, ...turns];
}

function blocksOf(
  message: Exclude<NeutralMessage, { role: 'system' }>,
  where: string,
  losses: Losses,
): readonly Fields[] {
  switch (message.role) {
    case 'user':
      return writeParts(message.content, `${where}.content`, losses);
    case 'assistant':
      return message.content.flatMap((part) => writeAssistantPart(part, where, losses));
    case 'tool':
      return message.results.map((result) => writeResult(result, `${where}.content`, losses));
  }
}

const writeParts = (parts: readonly UserPart[], where: string, losses: Losses): readonly Fields[] =>
  parts.flatMap((part, index) => writePart(part, `${where}[${index}]`, losses));

/** Text block. Empty for blank text, which Anthropic rejects. */
const textBlock = (text: string, cached?: CacheMark): Fields[] =>
  text.trim() === '' ? [] : [withoutNulls({ type: 'text', text, cache_control: cacheControl(cached) })];

/** `cache_control` for a cache mark. Null without a mark. */
export const cacheControl = (mark: CacheMark | undefined): Fields | null =>
  mark === undefined ? null : withoutNulls({ type: 'ephemeral', ttl: mark.ttl });

function writePart(part: UserPart, where: string, losses: Losses): readonly Fields[] {
  switch (part.kind) {
    case 'text':
      return textBlock(part.text, part.cached);
    case 'image':
      if (part.detail !== null && part.detail !== 'auto') losses.hint(`${where}.detail`);
      return [
        withoutNulls({ type: 'image', source: sourceFields(part.source), cache_control: cacheControl(part.cached) }),
      ];
    case 'file': {
      const source = documentSource(part.source);
      if (source === null) break;
      return [withoutNulls({ type: 'document', source, title: part.name, cache_control: cacheControl(part.cached) })];
    }
    case 'audio':
      break;
  }
  losses.essential(where);
  return [];
}

function sourceFields(source: Source): Fields {
  switch (source.form) {
    case 'data':
      return { type: 'base64', media_type: source.mediaType, data: source.base64 };
    case 'url':
      return { type: 'url', url: source.url };
    case 'id':
      return { type: 'file', file_id: source.id };
  }
}

/** Source of a document. Null for inline types other than PDF and text. */
function documentSource(source: Source): Fields | null {
  if (source.form !== 'data' || source.mediaType === 'application/pdf') return sourceFields(source);
  if (!source.mediaType.startsWith('text/')) return null;
  return { type: 'text', media_type: 'text/plain', data: Buffer.from(source.base64, 'base64').toString('utf8') };
}

function writeAssistantPart(part: AssistantPart, where: string, losses: Losses): readonly Fields[] {
  switch (part.kind) {
    case 'text':
      return textBlock(part.text, part.cached);
    case 'refusal':
      return textBlock(part.text);
    case 'reasoning':
      if (part.redacted && part.proof !== null) return [{ type: 'redacted_thinking', data: part.proof }];
      if (part.proof !== null) return [{ type: 'thinking', thinking: part.text, signature: part.proof }];
      // Anthropic rejects a thinking block without signature.
      losses.hint(`${where}.reasoning`);
      return [];
    case 'toolCall':
      if (part.proof !== undefined) losses.hint(`${where}.tool_calls.proof`);
      return [{ type: 'tool_use', id: callId(part.id), name: part.name, input: inputOf(part, `${where}.tool_calls`) }];
  }
}

/** Call id with the allowed characters only. Calls and results are converted in the same way. */
const callId = (id: string): string => id.replace(/[^a-zA-Z0-9_-]/g, '_') || '_';

function inputOf({ arguments: text }: ToolCallPart, where: string): Fields {
  if (text.trim() === '') return {};
  const input = parseJson(Buffer.from(text));
  if (!isJsonObject(input)) throw malformed(`${where}.function.arguments`, 'the JSON text of an object');
  return input;
}

function writeResult({ callId: id, content, failed, cached }: ToolResult, where: string, losses: Losses): Fields {
  const blocks = writeParts(content, where, losses);
  return withoutNulls({
    type: 'tool_result',
    tool_use_id: callId(id),
    content: blocks.length === 0 ? null : blocks,
    is_error: failed ? true : null,
    cache_control: cacheControl(cached),
  });
}
