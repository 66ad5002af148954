import type {
  AssistantPart,
  Losses,
  NeutralMessage,
  Source,
  TextPart,
  ToolResult,
  UserPart,
} from '../../domain/chat/neutral-chat.ts';
import { sourceOf } from '../data-url.ts';
import { type Fields, list, object, text } from '../json/fields.ts';
import { malformed } from '../malformed.ts';
import { wrapInput } from './custom-tools.ts';

/**
 * Reads the input of a request as messages. Text, reasoning and calls of one answer become one message. Consecutive
 * results become one message. Adds unsupported items to `losses`. Throws InvalidInput.
 */
export function readInput(input: unknown, losses: Losses): readonly NeutralMessage[] {
  if (typeof input === 'string') return [{ role: 'user', content: [{ kind: 'text', text: input }] }];
  const messages: NeutralMessage[] = [];
  list(input).forEach((value, index) => {
    const message = readItem(object(value), `input[${index}]`, losses);
    if (message === null) return;
    const merged = mergedWith(messages.at(-1), message);
    if (merged === null) messages.push(message);
    else messages[messages.length - 1] = merged;
  });
  return messages;
}

/** Joins two messages when the second continues the first. Null otherwise. */
function mergedWith(last: NeutralMessage | undefined, next: NeutralMessage): NeutralMessage | null {
  if (last?.role === 'tool' && next.role === 'tool')
    return { role: 'tool', results: [...last.results, ...next.results] };
  if (last?.role !== 'assistant' || next.role !== 'assistant') return null;
  const hasPart = (message: { readonly content: readonly AssistantPart[] }, kind: AssistantPart['kind']): boolean =>
    message.content.some((part) => part.kind === kind);
  // Text after text is another answer. After a tool call it belongs to the same answer, because no result came between.
  if (hasPart(next, 'text') && hasPart(last, 'text') && !hasPart(last, 'toolCall')) return null;
  return { role: 'assistant', content: [...last.content, ...next.content] };
}

function readItem(item: Fields, where: string, losses: Losses): NeutralMessage | null {
  switch (item['type'] ?? 'message') {
    case 'message':
      return readMessage(item, where, losses);
    case 'reasoning':
      return { role: 'assistant', content: readReasoning(item) };
    case 'function_call':
    case 'custom_tool_call':
      return { role: 'assistant', content: [readCall(item, where)] };
    case 'function_call_output':
    case 'custom_tool_call_output':
      return { role: 'tool', results: [readResult(item, where, losses)] };
    default:
      // Items of provider tools, references to stored items, and other items that only one provider can read.
      losses.essential(where);
      return null;
  }
}

function readMessage({ role, content }: Fields, where: string, losses: Losses): NeutralMessage {
  switch (role) {
    case 'system':
    case 'developer':
      return { role: 'system', content: readTexts(content, `${where}.content`) };
    case 'user':
      return { role: 'user', content: readParts(content, `${where}.content`, losses) };
    case 'assistant':
      return { role: 'assistant', content: readAssistantContent(content, `${where}.content`, losses) };
    default:
      throw malformed(`${where}.role`, 'one of user, assistant, system, developer');
  }
}

const TEXT_TYPES = new Set<unknown>(['input_text', 'output_text', 'text']);

function readTexts(content: unknown, where: string): readonly TextPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content }];
  if (!Array.isArray(content)) throw malformed(where, 'a string or an array of parts');
  return content.map((value, index): TextPart => {
    const part = object(value);
    const words = text(part['text']);
    if (!TEXT_TYPES.has(part['type']) || words === null)
      throw malformed(`${where}[${index}]`, 'a part of type input_text');
    return { kind: 'text', text: words };
  });
}

function readParts(content: unknown, where: string, losses: Losses): readonly UserPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content }];
  if (!Array.isArray(content)) throw malformed(where, 'a string or an array of parts');
  return content.flatMap((value, index) => readPart(object(value), `${where}[${index}]`, losses));
}

function readPart(part: Fields, where: string, losses: Losses): readonly UserPart[] {
  if (TEXT_TYPES.has(part['type'])) {
    const words = text(part['text']);
    if (words === null) throw malformed(`${where}.text`, 'a string');
    return [{ kind: 'text', text: words }];
  }
  if (part['type'] === 'input_image') {
    const source = sourceAt(part, 'image_url');
    if (source === null) throw malformed(where, 'an image with image_url or file_id');
    return [{ kind: 'image', source, detail: text(part['detail']) }];
  }
  if (part['type'] === 'input_file') {
    const source = sourceAt(part, 'file_data') ?? sourceAt(part, 'file_url');
    if (source === null) throw malformed(where, 'a file with file_data, file_url or file_id');
    return [{ kind: 'file', source, name: text(part['filename']) }];
  }
  losses.essential(where);
  return [];
}

function sourceAt(part: Fields, member: string): Source | null {
  const address = text(part[member]);
  const id = text(part['file_id']);
  if (address !== null) return sourceOf(address);
  return id === null ? null : { form: 'id', id };
}

function readAssistantContent(content: unknown, where: string, losses: Losses): readonly AssistantPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content }];
  if (!Array.isArray(content)) throw malformed(where, 'a string or an array of parts');
  return content.flatMap((value, index): AssistantPart[] => {
    const part = object(value);
    const words = text(part['text']);
    const refusal = text(part['refusal']);
    if (TEXT_TYPES.has(part['type']) && words !== null) return [{ kind: 'text', text: words }];
    if (part['type'] === 'refusal' && refusal !== null) return [{ kind: 'refusal', text: refusal }];
    losses.essential(`${where}[${index}]`);
    return [];
  });
}

/** Text of a reasoning item: its summary, else its content. Parts are separated by a blank line. */
export function reasoningTextOf(item: Fields): string {
  const parts = list(item['summary']).length > 0 ? list(item['summary']) : list(item['content']);
  return parts.map((part) => text(object(part)['text']) ?? '').join('\n\n');
}

function readReasoning(item: Fields): readonly AssistantPart[] {
  const reasoning = reasoningTextOf(item);
  const proof = text(item['encrypted_content']);
  if (reasoning === '' && proof === null) return [];
  return [{ kind: 'reasoning', text: reasoning, proof, redacted: reasoning === '' }];
}

function readCall(item: Fields, where: string): AssistantPart {
  const name = text(item['name']);
  const id = text(item['call_id']);
  if (name === null) throw malformed(`${where}.name`, 'a string');
  if (id === null) throw malformed(`${where}.call_id`, 'a string');
  const proof = text(object(object(item['extra_content'])['google'])['thought_signature']);
  const isCustom = item['type'] === 'custom_tool_call';
  const callArguments = isCustom ? wrapInput(text(item['input']) ?? '') : (text(item['arguments']) ?? '{}');
  return { kind: 'toolCall', id, name, arguments: callArguments, ...(proof === null ? {} : { proof }) };
}

function readResult(item: Fields, where: string, losses: Losses): ToolResult {
  const callId = text(item['call_id']);
  if (callId === null) throw malformed(`${where}.call_id`, 'the id of the call it answers');
  return { callId, content: readParts(item['output'] ?? '', `${where}.output`, losses), failed: false };
}
