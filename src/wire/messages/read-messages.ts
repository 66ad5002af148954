import { isJsonObject } from '../../domain/json-object.ts';
import type {
  AssistantPart,
  CacheMark,
  Losses,
  NeutralMessage,
  Source,
  TextPart,
  ToolResult,
  UserPart,
} from '../../domain/chat/neutral-chat.ts';
import { type Fields, list, object, text } from '../json/fields.ts';
import { malformed } from '../malformed.ts';

/** Reads the system prompt as one message. Empty when the prompt is absent or empty. Throws InvalidInput. */
export function readSystem(value: unknown, where: string): readonly NeutralMessage[] {
  if (value === undefined || value === null || value === '') return [];
  const content = readBlocks(value, where).map((block, index): TextPart => {
    const words = text(block['text']);
    if (words === null) throw malformed(`${where}[${index}]`, 'a block of type text');
    return { kind: 'text', text: words, ...cacheMarkOf(block) };
  });
  return content.length === 0 ? [] : [{ role: 'system', content }];
}

/**
 * Reads the turns of a conversation. Tool results come before other user content of the same turn, as other dialects
 * require. Adds unsupported blocks to `losses`. Throws InvalidInput.
 */
export function readMessages(value: unknown, losses: Losses): readonly NeutralMessage[] {
  return list(value).flatMap((item, index): readonly NeutralMessage[] => {
    const where = `messages[${index}]`;
    const { role, content } = object(item);
    switch (role) {
      case 'user':
        return readUser(readBlocks(content, `${where}.content`), where, losses);
      case 'assistant': {
        const parts = readBlocks(content, `${where}.content`).flatMap((block, blockIndex) =>
          readAssistantBlock(block, `${where}.content[${blockIndex}]`, losses),
        );
        return [{ role: 'assistant', content: parts }];
      }
      case 'system':
        return readSystem(content, `${where}.content`);
      default:
        throw malformed(`${where}.role`, 'one of user, assistant, system');
    }
  });
}

/** Content as blocks. A string becomes one text block. */
function readBlocks(content: unknown, where: string): readonly Fields[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  if (!Array.isArray(content)) throw malformed(where, 'a string or an array of blocks');
  return content.map(object);
}

function readUser(blocks: readonly Fields[], where: string, losses: Losses): readonly NeutralMessage[] {
  const results: ToolResult[] = [];
  const content: UserPart[] = [];
  blocks.forEach((block, index) => {
    const place = `${where}.content[${index}]`;
    if (block['type'] === 'tool_result') results.push(readResult(block, place, losses));
    else content.push(...readPart(block, place, losses));
  });
  const hasResults = results.length > 0;
  const hasOnlyResults = hasResults && content.length === 0;
  return [
    ...(hasResults ? [{ role: 'tool', results } as const] : []),
    ...(hasOnlyResults ? [] : [{ role: 'user', content } as const]),
  ];
}

function readResult(block: Fields, where: string, losses: Losses): ToolResult {
  const callId = text(block['tool_use_id']);
  if (callId === null) throw malformed(`${where}.tool_use_id`, 'the id of the call it answers');
  const content = readBlocks(block['content'] ?? '', `${where}.content`).flatMap((inner, index) =>
    readPart(inner, `${where}.content[${index}]`, losses),
  );
  return { callId, content, failed: block['is_error'] === true, ...cacheMarkOf(block) };
}

function readPart(block: Fields, where: string, losses: Losses): readonly UserPart[] {
  switch (block['type']) {
    case 'text': {
      const words = text(block['text']);
      if (words === null) throw malformed(`${where}.text`, 'a string');
      return [{ kind: 'text', text: words, ...cacheMarkOf(block) }];
    }
    case 'image':
      return [{ kind: 'image', source: readSource(block, 'image/png', where), detail: null, ...cacheMarkOf(block) }];
    case 'document':
      return readDocument(block, where, losses);
    default:
      losses.essential(where);
      return [];
  }
}

function readDocument(block: Fields, where: string, losses: Losses): readonly UserPart[] {
  const source = object(block['source']);
  if (object(block['citations'])['enabled'] === true) losses.essential(`${where}.citations`);
  if ((block['context'] ?? null) !== null) losses.essential(`${where}.context`);
  if (source['type'] === 'content')
    return readBlocks(source['content'], `${where}.source.content`).flatMap((inner, index) =>
      readPart(inner, `${where}.source.content[${index}]`, losses),
    );
  const name = text(block['title']);
  return [{ kind: 'file', source: readSource(block, 'application/pdf', where), name, ...cacheMarkOf(block) }];
}

function readSource({ source: value }: Fields, defaultType: string, where: string): Source {
  const source = object(value);
  const data = text(source['data']);
  const url = text(source['url']);
  const id = text(source['file_id']);
  if (source['type'] === 'base64' && data !== null)
    return { form: 'data', mediaType: text(source['media_type']) ?? defaultType, base64: data };
  if (source['type'] === 'text' && data !== null)
    return { form: 'data', mediaType: 'text/plain', base64: Buffer.from(data).toString('base64') };
  if (source['type'] === 'url' && url !== null) return { form: 'url', url, mediaType: null };
  if (source['type'] === 'file' && id !== null) return { form: 'id', id };
  throw malformed(`${where}.source`, 'an object of type base64, text, url or file');
}

function readAssistantBlock(block: Fields, where: string, losses: Losses): readonly AssistantPart[] {
  switch (block['type']) {
    case 'text':
      return [{ kind: 'text', text: text(block['text']) ?? '', ...cacheMarkOf(block) }];
    case 'thinking': {
      const thought = text(block['thinking']) ?? '';
      return [{ kind: 'reasoning', text: thought, proof: text(block['signature']) || null, redacted: false }];
    }
    case 'redacted_thinking':
      return [{ kind: 'reasoning', text: '', proof: text(block['data']), redacted: true }];
    case 'tool_use': {
      const id = text(block['id']);
      const name = text(block['name']);
      if (id === null || name === null) throw malformed(where, 'a call with an id and a name');
      return [{ kind: 'toolCall', id, name, arguments: JSON.stringify(block['input'] ?? {}) }];
    }
    default:
      losses.essential(where);
      return [];
  }
}

/** Reads the `cache_control` mark of a block. */
export function cacheMarkOf(block: Fields): { readonly cached?: CacheMark } {
  const mark = block['cache_control'];
  return isJsonObject(mark) ? { cached: { ttl: text(mark['ttl']) } } : {};
}
