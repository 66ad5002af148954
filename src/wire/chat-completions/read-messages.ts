import { isJsonObject } from '../../domain/json-object.ts';
import type {
  AssistantPart,
  CacheMark,
  Losses,
  NeutralMessage,
  ReasoningPart,
  TextPart,
  ToolCallPart,
  ToolResult,
  UserPart,
} from '../../domain/chat/neutral-chat.ts';
import { sourceOf } from '../data-url.ts';
import { type Fields, list, object, text } from '../json/fields.ts';
import { malformed } from '../malformed.ts';

/** Reads the messages of a chat. Consecutive tool results become one message. Throws InvalidInput. */
export function readMessages(value: unknown, losses: Losses): readonly NeutralMessage[] {
  const messages: NeutralMessage[] = [];
  list(value).forEach((item, index) => {
    const where = `messages[${index}]`;
    const message = object(item);
    if (message['role'] === 'tool' || message['role'] === 'function') {
      const result = readResult(message, where, losses);
      const last = messages.at(-1);
      if (last?.role === 'tool') messages[messages.length - 1] = { role: 'tool', results: [...last.results, result] };
      else messages.push({ role: 'tool', results: [result] });
      return;
    }
    messages.push(readMessage(message, where, losses));
  });
  return messages;
}

function readMessage(message: Fields, where: string, losses: Losses): NeutralMessage {
  const { role, content } = message;
  if (message['name'] !== undefined) losses.hint(`${where}.name`);
  switch (role) {
    case 'system':
    case 'developer':
      return { role: 'system', content: readTexts(content, `${where}.content`) };
    case 'user':
      return { role: 'user', content: readParts(content, `${where}.content`, losses) };
    case 'assistant':
      return { role: 'assistant', content: readAssistant(message, where, losses) };
    default:
      throw malformed(`${where}.role`, 'one of system, developer, user, assistant, tool');
  }
}

function readTexts(content: unknown, where: string): readonly TextPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content }];
  if (!Array.isArray(content)) throw malformed(where, 'a string or an array of parts');
  return content.map((item, index): TextPart => {
    const part = object(item);
    const words = text(part['text']);
    if (words === null) throw malformed(`${where}[${index}]`, 'a part of type text');
    return { kind: 'text', text: words, ...cacheMarkOf(part) };
  });
}

function readParts(content: unknown, where: string, losses: Losses): readonly UserPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content }];
  if (!Array.isArray(content)) throw malformed(where, 'a string or an array of parts');
  return content
    .map((item, index) => readPart(object(item), `${where}[${index}]`, losses))
    .filter((part) => part !== null);
}

function readPart(part: Fields, where: string, losses: Losses): UserPart | null {
  switch (part['type']) {
    case 'text': {
      const words = text(part['text']);
      if (words === null) throw malformed(`${where}.text`, 'a string');
      return { kind: 'text', text: words, ...cacheMarkOf(part) };
    }
    case 'image_url': {
      const image = part['image_url'];
      const url = text(image) ?? text(object(image)['url']);
      if (url === null) throw malformed(`${where}.image_url.url`, 'a URL or a data URL');
      return { kind: 'image', source: sourceOf(url), detail: text(object(image)['detail']), ...cacheMarkOf(part) };
    }
    case 'file':
      return readFile(object(part['file']), part, where);
    case 'input_audio': {
      const { data, format } = object(part['input_audio']);
      if (typeof data !== 'string') throw malformed(`${where}.input_audio.data`, 'base64 text');
      const mediaType = `audio/${text(format) ?? 'wav'}`;
      return { kind: 'audio', source: { form: 'data', mediaType, base64: data } };
    }
    default:
      losses.essential(where);
      return null;
  }
}

function readFile(file: Fields, part: Fields, where: string): UserPart {
  const data = text(file['file_data']);
  const id = text(file['file_id']);
  const name = text(file['filename']);
  if (data !== null) return { kind: 'file', source: sourceOf(data), name, ...cacheMarkOf(part) };
  if (id !== null) return { kind: 'file', source: { form: 'id', id }, name, ...cacheMarkOf(part) };
  throw malformed(`${where}.file`, 'an object with file_data or file_id');
}

function readAssistant(message: Fields, where: string, losses: Losses): readonly AssistantPart[] {
  if (message['audio'] !== undefined && message['audio'] !== null) losses.essential(`${where}.audio`);
  return [
    ...readThoughts(message),
    ...readAssistantContent(message['content'], `${where}.content`, losses),
    ...readRefusal(message['refusal']),
    ...readCalls(message, where),
  ];
}

function readThoughts(message: Fields): readonly ReasoningPart[] {
  const blocks = list(message['thinking_blocks']).filter(isJsonObject);
  if (blocks.length > 0)
    return blocks.map((block) => {
      const redacted = block['type'] === 'redacted_thinking';
      const proof = text(redacted ? block['data'] : block['signature']);
      return { kind: 'reasoning', text: text(block['thinking']) ?? '', proof, redacted };
    });
  const thought = text(message['reasoning_content']) ?? text(message['reasoning']);
  return thought === null || thought === '' ? [] : [{ kind: 'reasoning', text: thought, proof: null, redacted: false }];
}

function readAssistantContent(content: unknown, where: string, losses: Losses): readonly AssistantPart[] {
  if (content === null || content === undefined || content === '') return [];
  if (typeof content === 'string') return [{ kind: 'text', text: content }];
  if (!Array.isArray(content)) throw malformed(where, 'a string, an array of parts or null');
  return content.flatMap((item, index): AssistantPart[] => {
    const part = object(item);
    const words = text(part['text']);
    if (part['type'] === 'text' && words !== null) return [{ kind: 'text', text: words, ...cacheMarkOf(part) }];
    if (part['type'] === 'refusal') return [...readRefusal(part['refusal'])];
    losses.essential(`${where}[${index}]`);
    return [];
  });
}

const readRefusal = (refusal: unknown): readonly AssistantPart[] =>
  typeof refusal === 'string' && refusal !== '' ? [{ kind: 'refusal', text: refusal }] : [];

function readCalls(message: Fields, where: string): readonly ToolCallPart[] {
  const calls = list(message['tool_calls']).map((item, index): ToolCallPart => {
    const call = object(item);
    const calledFunction = object(call['function']);
    const name = text(calledFunction['name']);
    if (name === null) throw malformed(`${where}.tool_calls[${index}].function.name`, 'a string');
    const proof = text(object(object(call['extra_content'])['google'])['thought_signature']);
    return {
      kind: 'toolCall',
      id: text(call['id']) ?? `call_${index}`,
      name,
      arguments: text(calledFunction['arguments']) ?? '{}',
      ...(proof === null ? {} : { proof }),
    };
  });
  const legacy = object(message['function_call']);
  const name = text(legacy['name']);
  if (name !== null) calls.push({ kind: 'toolCall', id: name, name, arguments: text(legacy['arguments']) ?? '{}' });
  return calls;
}

function readResult(message: Fields, where: string, losses: Losses): ToolResult {
  // The deprecated `function` role has the function name instead of a call id.
  const callId = text(message['tool_call_id']) ?? text(message['name']);
  if (callId === null) throw malformed(`${where}.tool_call_id`, 'the id of the call it answers');
  const content = message['content'] ?? '';
  return { callId, content: readParts(content, `${where}.content`, losses), failed: false, ...cacheMarkOf(message) };
}

/** Reads `cache_control`, a member of Anthropic's API that many clients also send in chat completions. */
function cacheMarkOf(part: Fields): { readonly cached?: CacheMark } {
  const mark = part['cache_control'];
  return isJsonObject(mark) ? { cached: { ttl: text(mark['ttl']) } } : {};
}
