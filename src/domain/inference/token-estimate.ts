import type { RequestBody } from './askable.ts';

/** Bytes of UTF-8 that a token holds: what its maker says of English, and other scripts have more bytes in a character. */
const BYTES_PER_TOKEN = 3.5;
/** What a turn costs beside what it says. */
const TURN_TOKENS = 4;
/** What a picture costs at most; smaller ones cost less. */
const IMAGE_TOKENS = 1_600;
/** A page or two of a document that is not text. */
const DOCUMENT_TOKENS = 3_000;

/**
 * About how many input tokens a request for a message has: its text by the bytes, pictures and documents at a flat count.
 * Rather more than fewer, because it is asked for to stay below a limit.
 */
export function estimateTokens({ system, messages, tools }: RequestBody): number {
  const turns = listOf(messages);
  const declared = listOf(tools);
  const spoken = turns.reduce<number>((sum, turn) => sum + TURN_TOKENS + contentTokens(fieldsOf(turn)['content']), 0);
  const known = declared.reduce<number>((sum, tool) => sum + jsonTokens(tool), 0);
  return Math.ceil(contentTokens(system) + spoken + known);
}

/** The same for a request in Google's form, whose members may be written in two ways. */
export function estimateContentTokens(body: RequestBody): number {
  const turns = listOf(body['contents']);
  const declared = listOf(body['tools']);
  const system = body['systemInstruction'] ?? body['system_instruction'];
  const spoken = turns.reduce<number>((sum, turn) => sum + TURN_TOKENS + partsTokens(turn), 0);
  const known = declared.reduce<number>((sum, tool) => sum + jsonTokens(tool), 0);
  return Math.ceil(partsTokens(system) + spoken + known);
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

function partsTokens(turn: unknown): number {
  if (typeof turn === 'string') return textTokens(turn);
  return listOf(fieldsOf(turn)['parts']).reduce<number>((sum, part) => sum + partTokens(fieldsOf(part)), 0);
}

function partTokens(part: Fields): number {
  const { text, thought } = part;
  const media = part['inlineData'] ?? part['inline_data'] ?? part['fileData'] ?? part['file_data'];
  // Thoughts of earlier turns are not read again.
  if (thought === true) return 0;
  if (typeof text === 'string') return textTokens(text);
  if (media === undefined) return jsonTokens(part);
  const kind = fieldsOf(media)['mimeType'] ?? fieldsOf(media)['mime_type'];
  return typeof kind === 'string' && kind.startsWith('image/') ? IMAGE_TOKENS : DOCUMENT_TOKENS;
}

type Fields = Readonly<Record<string, unknown>>;

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};

function contentTokens(content: unknown): number {
  if (typeof content === 'string') return textTokens(content);
  if (!Array.isArray(content)) return 0;
  return content.reduce<number>((sum, block) => sum + blockTokens(fieldsOf(block)), 0);
}

function blockTokens(block: Fields): number {
  const source = fieldsOf(block['source']);
  switch (block['type']) {
    case 'text':
      return contentTokens(block['text']);
    case 'image':
      return IMAGE_TOKENS;
    case 'document':
      if (source['type'] === 'text') return contentTokens(source['data']);
      return source['type'] === 'content' ? contentTokens(source['content']) : DOCUMENT_TOKENS;
    case 'tool_result':
      return TURN_TOKENS + contentTokens(block['content']);
    case 'tool_use':
      return TURN_TOKENS + contentTokens(block['name']) + jsonTokens(block['input']);
    // Thoughts of earlier turns are not read again.
    case 'thinking':
    case 'redacted_thinking':
      return 0;
    default:
      return jsonTokens(block);
  }
}

const jsonTokens = (value: unknown): number => textTokens(JSON.stringify(value ?? null));

const textTokens = (text: string): number => Buffer.byteLength(text) / BYTES_PER_TOKEN;
