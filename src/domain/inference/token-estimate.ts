import { isJsonObject, type JsonObject } from '../json-object.ts';
import type { RequestBody } from './request-validation.ts';

/** Bytes of UTF-8 per token: Anthropic's figure for English. Other scripts have more bytes per character. */
const BYTES_PER_TOKEN = 3.5;
/** Tokens of a message in addition to its content. */
const TURN_TOKENS = 4;
/** Tokens of a large image. Smaller images have fewer tokens. */
const IMAGE_TOKENS = 1_600;
/** Tokens of a document that is not text, with one or two pages. */
const DOCUMENT_TOKENS = 3_000;

/**
 * Estimate of the input tokens of a messages request: text by its bytes, images and documents with a fixed count.
 * The result is rather too high than too low, because clients use it to stay below a limit.
 */
export function estimateTokens({ system, messages, tools }: RequestBody): number {
  const turns = listOf(messages);
  const declared = listOf(tools);
  const promptTokens = turns.reduce<number>((sum, turn) => sum + TURN_TOKENS + turnTokens(fieldsOf(turn)), 0);
  const toolTokens = declared.reduce<number>((sum, tool) => sum + jsonTokens(tool), 0);
  return Math.ceil(contentTokens(system) + promptTokens + toolTokens);
}

/** Estimate of the input tokens of a request of the Responses API. */
export function estimateItemTokens({ instructions, input, tools }: RequestBody): number {
  const items = typeof input === 'string' ? [{ content: input }] : listOf(input);
  const promptTokens = items.reduce<number>((sum, item) => sum + TURN_TOKENS + itemTokens(fieldsOf(item)), 0);
  const toolTokens = listOf(tools).reduce<number>((sum, tool) => sum + jsonTokens(tool), 0);
  return Math.ceil(contentTokens(instructions) + promptTokens + toolTokens);
}

/**
 * Tokens of a message are those of its content; other items, e.g. function calls and their results, are counted as
 * JSON.
 */
const itemTokens = (item: JsonObject): number =>
  item['content'] === undefined ? jsonTokens(item) : contentTokens(item['content']);

/** Estimate of the input tokens of a request in Google's format, whose members have two spellings. */
export function estimateContentTokens(body: RequestBody): number {
  const turns = listOf(body['contents']);
  const declared = listOf(body['tools']);
  const system = body['systemInstruction'] ?? body['system_instruction'];
  const promptTokens = turns.reduce<number>((sum, turn) => sum + TURN_TOKENS + partsTokens(turn), 0);
  const toolTokens = declared.reduce<number>((sum, tool) => sum + jsonTokens(tool), 0);
  return Math.ceil(partsTokens(system) + promptTokens + toolTokens);
}

/** Tokens of a message: of its content and its tool calls. */
const turnTokens = (turn: JsonObject): number =>
  contentTokens(turn['content']) + (turn['tool_calls'] === undefined ? 0 : jsonTokens(turn['tool_calls']));

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

function partsTokens(turn: unknown): number {
  if (typeof turn === 'string') return textTokens(turn);
  return listOf(fieldsOf(turn)['parts']).reduce<number>((sum, part) => sum + partTokens(fieldsOf(part)), 0);
}

function partTokens(part: JsonObject): number {
  const { text, thought } = part;
  const media = part['inlineData'] ?? part['inline_data'] ?? part['fileData'] ?? part['file_data'];
  // Reasoning of earlier messages is not billed again.
  if (thought === true) return 0;
  if (typeof text === 'string') return textTokens(text);
  if (media === undefined) return jsonTokens(part);
  const kind = fieldsOf(media)['mimeType'] ?? fieldsOf(media)['mime_type'];
  return typeof kind === 'string' && kind.startsWith('image/') ? IMAGE_TOKENS : DOCUMENT_TOKENS;
}

const fieldsOf = (value: unknown): JsonObject => (isJsonObject(value) ? { ...value } : {});

function contentTokens(content: unknown): number {
  if (typeof content === 'string') return textTokens(content);
  if (!Array.isArray(content)) return 0;
  return content.reduce<number>((sum, block) => sum + blockTokens(fieldsOf(block)), 0);
}

function blockTokens(block: JsonObject): number {
  const source = fieldsOf(block['source']);
  switch (block['type']) {
    case 'text':
    case 'input_text':
    case 'output_text':
      return contentTokens(block['text']);
    case 'image':
    case 'image_url':
    case 'input_image':
      return IMAGE_TOKENS;
    case 'file':
    case 'input_file':
    case 'input_audio':
      return DOCUMENT_TOKENS;
    case 'document':
      if (source['type'] === 'text') return contentTokens(source['data']);
      return source['type'] === 'content' ? contentTokens(source['content']) : DOCUMENT_TOKENS;
    case 'tool_result':
      return TURN_TOKENS + contentTokens(block['content']);
    case 'tool_use':
      return TURN_TOKENS + contentTokens(block['name']) + jsonTokens(block['input']);
    // Reasoning of earlier messages is not billed again.
    case 'thinking':
    case 'redacted_thinking':
      return 0;
    default:
      return jsonTokens(block);
  }
}

const jsonTokens = (value: unknown): number => textTokens(JSON.stringify(value ?? null));

const textTokens = (text: string): number => Buffer.byteLength(text) / BYTES_PER_TOKEN;
