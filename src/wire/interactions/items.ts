import { isJsonObject } from '../../domain/json-object.ts';
import { type Fields, text } from '../json/fields.ts';
import { invalidInteraction } from './faults.ts';

/** All content types of the API. Some are not supported. */
const CONTENT_TYPES = new Set<unknown>(['text', 'image', 'document', 'audio', 'video']);

/** Step types that may also occur in the content of a turn. */
const STEPS_IN_TURNS = new Set<unknown>(['function_call', 'function_result', 'thought']);

/**
 * Input of an interaction as input of the Responses API. A text stays a string. Steps become items, and consecutive
 * content outside a step becomes one user message. Throws InvalidInput.
 */
export function itemsOfInput(input: unknown): unknown {
  if (typeof input === 'string') return input;
  const steps: readonly unknown[] = Array.isArray(input) ? input : [input];
  const items: unknown[] = [];
  /** Content of the last item, while content outside a step can be added to it. */
  let openContent: unknown[] | null = null;
  for (const [index, step] of steps.entries()) {
    const where = Array.isArray(input) ? `input.${index}` : 'input';
    if (!isJsonObject(step)) throw invalidInteraction(where, 'it must be an object');
    if (CONTENT_TYPES.has(step['type'])) {
      if (openContent === null) {
        openContent = [];
        items.push({ type: 'message', role: 'user', content: openContent });
      }
      openContent.push(partOf(step, 'user', where));
      continue;
    }
    openContent = null;
    items.push(...itemsOfStep(step, where));
  }
  return items;
}

function itemsOfStep(step: Fields, where: string): readonly unknown[] {
  const { type, role, content } = step;
  switch (type) {
    case 'user_input':
      return itemsOfTurn('user', content, where);
    case 'model_output':
      return itemsOfTurn('assistant', content, where);
    case 'function_call':
      return [callOf(step, where)];
    case 'function_result':
      return [resultOf(step, where)];
    case 'thought':
      return thoughtOf(step);
    case undefined:
      if (role === 'user' || role === 'model')
        return itemsOfTurn(role === 'user' ? 'user' : 'assistant', content, where);
      throw invalidInteraction(where, 'it must have a type, or a role of user or model');
    default:
      throw invalidInteraction(`${where}.type`, 'steps of this type cannot be honoured');
  }
}

type Role = 'user' | 'assistant';

/** A turn as items: one message with its texts and media, then its calls, results and thoughts. */
function itemsOfTurn(role: Role, content: unknown, where: string): readonly unknown[] {
  if (typeof content === 'string') return [{ type: 'message', role, content }];
  if (isJsonObject(content)) return itemsOfTurn(role, [content], where);
  if (!Array.isArray(content)) throw invalidInteraction(`${where}.content`, 'it must be a string or an array');
  const parts: unknown[] = [];
  const otherItems: unknown[] = [];
  for (const [index, part] of (content as readonly unknown[]).entries()) {
    const place = `${where}.content.${index}`;
    if (!isJsonObject(part)) throw invalidInteraction(place, 'it must be an object');
    if (CONTENT_TYPES.has(part['type'])) parts.push(partOf(part, role, place));
    else if (STEPS_IN_TURNS.has(part['type'])) otherItems.push(...itemsOfStep(part, place));
    else throw invalidInteraction(`${place}.type`, 'content of this type cannot be honoured');
  }
  return [...(parts.length === 0 ? [] : [{ type: 'message', role, content: parts }]), ...otherItems];
}

function partOf(part: Fields, role: Role, where: string): unknown {
  const { type, text: words } = part;
  if (type === 'text') {
    if (typeof words !== 'string') throw invalidInteraction(`${where}.text`, 'it must be a string');
    return { type: role === 'user' ? 'input_text' : 'output_text', text: words };
  }
  if (role === 'user' && type === 'image') return { type: 'input_image', image_url: addressOf(part, where) };
  if (role === 'user' && type === 'document')
    return text(part['uri']) === null
      ? { type: 'input_file', filename: 'document', file_data: addressOf(part, where) }
      : { type: 'input_file', file_url: part['uri'] };
  throw invalidInteraction(`${where}.type`, 'content of this type cannot be honoured here');
}

function addressOf({ uri, data, mime_type: type }: Fields, where: string): string {
  if (typeof uri === 'string') return uri;
  if (typeof data !== 'string' || typeof type !== 'string')
    throw invalidInteraction(where, 'it must have a uri, or data and mime_type');
  return `data:${type};base64,${data}`;
}

function callOf({ id, name, arguments: callArguments }: Fields, where: string): unknown {
  if (typeof id !== 'string' || typeof name !== 'string')
    throw invalidInteraction(where, 'it must have an id and a name');
  return { type: 'function_call', call_id: id, name, arguments: JSON.stringify(callArguments ?? {}) };
}

function resultOf({ call_id: id, result }: Fields, where: string): unknown {
  if (typeof id !== 'string') throw invalidInteraction(`${where}.call_id`, 'it must be a string');
  return { type: 'function_call_output', call_id: id, output: textOfResult(result) };
}

/** Function result as text: a string, the joined texts of text parts, else JSON. */
function textOfResult(result: unknown): string {
  if (typeof result === 'string') return result;
  if (!Array.isArray(result)) return JSON.stringify(result ?? null);
  const texts = result.map((part: unknown) => (isJsonObject(part) ? part['text'] : null));
  return texts.every((one) => typeof one === 'string') ? texts.join('\n') : JSON.stringify(result);
}

/** A thought as a reasoning item. Empty without a signature. */
function thoughtOf({ signature, summary }: Fields): readonly unknown[] {
  if (typeof signature !== 'string') return [];
  const texts = (Array.isArray(summary) ? summary : []).flatMap((part: unknown) =>
    isJsonObject(part) && typeof part['text'] === 'string' ? [{ type: 'summary_text', text: part['text'] }] : [],
  );
  return [{ type: 'reasoning', summary: texts, encrypted_content: signature }];
}
