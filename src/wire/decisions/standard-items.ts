import { isJsonObject } from '../../domain/json-object.ts';
import type { Item, Members, Part } from '../../domain/decisions/decision.ts';
import { type Fields } from '../json/fields.ts';
import { assertKnown, invalidDecision } from './faults.ts';

/** Members of all parts of items but refusals. `prompt_cache_breakpoint` marks the end of a cached prefix. */
const ITEM_PART_MEMBERS = ['type', 'prompt_cache_breakpoint'];
/** Members of all parts of instructions. */
const INSTRUCTION_PART_MEMBERS = ['type'];
const USER_PARTS = ['input_text', 'input_image', 'input_json'];
const OUTPUT_PARTS = ['input_text', 'input_image'];

/** Allowed part types of a message, by role. */
const PARTS_BY_ROLE: Readonly<Record<string, readonly string[]>> = {
  user: USER_PARTS,
  developer: ['input_text'],
  system: ['input_text'],
  assistant: ['output_text', 'refusal'],
};

/** Reads the items of an input. Throws InvalidInput. */
export function readItems(value: readonly unknown[]): readonly Item[] {
  const items = value.map((one, index) => readItem(one, `input.${index}`));
  const calls = new Set(value.flatMap((one) => (isJsonObject(one) && isCall(one) ? [one['call_id']] : [])));
  for (const [index, one] of value.entries())
    if (isJsonObject(one) && isOutput(one) && !calls.has(one['call_id']))
      throw invalidDecision(`input.${index}.call_id`, 'no call of the input has this id');
  return items;
}

const isCall = ({ type }: Fields): boolean => type === 'function_call' || type === 'custom_tool_call';
const isOutput = ({ type }: Fields): boolean => type === 'function_call_output' || type === 'custom_tool_call_output';

function readItem(value: unknown, where: string): Item {
  if (!isJsonObject(value)) throw invalidDecision(where, 'it must be an object');
  const type = value['type'] ?? 'message';
  switch (type) {
    case 'message':
      return readMessage(value, where);
    case 'function_call':
      return readCall(value, 'arguments', where);
    case 'custom_tool_call':
      return readCall(value, 'input', where);
    case 'function_call_output':
    case 'custom_tool_call_output':
      return readOutput(value, where);
    default:
      throw invalidDecision(`${where}.type`, 'it must be "message" or the type of a tool item');
  }
}

function readMessage(value: Fields, where: string): Item {
  const role = value['role'] ?? 'user';
  const types = typeof role === 'string' && Object.hasOwn(PARTS_BY_ROLE, role) ? PARTS_BY_ROLE[role] : undefined;
  if (typeof role !== 'string' || types === undefined)
    throw invalidDecision(`${where}.role`, `it must be one of ${Object.keys(PARTS_BY_ROLE).join(', ')}`);
  assertKnown(value, role === 'assistant' ? ['role', 'type', 'content', 'phase'] : ['role', 'type', 'content'], where);
  const phase = value['phase'] ?? null;
  if (phase !== null && phase !== 'commentary' && phase !== 'final_answer')
    throw invalidDecision(`${where}.phase`, 'it must be "commentary" or "final_answer"');
  return {
    role,
    content: readContent(value['content'], types, `${where}.content`),
    sent: { role, type: 'message', ...(phase === null ? {} : { phase }) },
    member: 'content',
  };
}

function readCall(value: Fields, member: 'arguments' | 'input', where: string): Item {
  assertKnown(value, ['type', 'id', 'call_id', 'name', member, 'namespace', 'status'], where);
  assertTexts(value, ['call_id', 'name', member], where);
  assertOptionalTexts(value, ['id', 'namespace', 'status'], where);
  const { [member]: content, ...sent } = value;
  return { role: `call of ${String(value['name'])}`, content: String(content), sent, member };
}

function readOutput(value: Fields, where: string): Item {
  assertKnown(value, ['type', 'id', 'call_id', 'output', 'status'], where);
  assertTexts(value, ['call_id'], where);
  assertOptionalTexts(value, ['id', 'status'], where);
  const { output, ...sent } = value;
  return {
    role: 'output of a call',
    content: readContent(output, OUTPUT_PARTS, `${where}.output`),
    sent,
    member: 'output',
  };
}

function assertTexts(value: Fields, members: readonly string[], where: string): void {
  for (const member of members)
    if (typeof value[member] !== 'string') throw invalidDecision(`${where}.${member}`, 'it must be a string');
}

function assertOptionalTexts(value: Fields, members: readonly string[], where: string): void {
  const present = members.filter((member) => value[member] !== undefined && value[member] !== null);
  assertTexts(value, present, where);
}

function readContent(value: unknown, types: readonly string[], where: string): string | readonly Part[] {
  if (typeof value === 'string') return value;
  return readParts(value, types, ITEM_PART_MEMBERS, where);
}

/** Reads instructions that are an array of parts. Throws InvalidInput. */
export const readInstructionParts = (value: unknown, where: string): readonly Part[] =>
  readParts(value, USER_PARTS, INSTRUCTION_PART_MEMBERS, where);

/** Reads parts of these types. `commonMembers` are the members that a part of any type but `refusal` may have. */
function readParts(
  value: unknown,
  types: readonly string[],
  commonMembers: readonly string[],
  where: string,
): readonly Part[] {
  if (!Array.isArray(value)) throw invalidDecision(where, 'it must be a string or an array of parts');
  return value.map((one: unknown, index) => {
    const place = `${where}.${index}`;
    if (!isJsonObject(one) || !types.includes(String(one['type'])))
      throw invalidDecision(place, `it must be an object with a type of ${types.join(', ')}`);
    return readPart(one, commonMembers, place);
  });
}

function readPart(value: Fields, commonMembers: readonly string[], where: string): Part {
  switch (value['type']) {
    case 'input_image': {
      assertKnown(value, [...commonMembers, 'image_url', 'detail'], where);
      assertTexts(value, ['image_url'], where);
      assertOptionalTexts(value, ['detail'], where);
      return { kind: 'image', url: String(value['image_url']), sent: sentOf(value) };
    }
    case 'input_json': {
      const { data } = value;
      assertKnown(value, [...commonMembers, 'data'], where);
      const areObjects = Array.isArray(data) ? data.every(isJsonObject) : isJsonObject(data);
      if (!areObjects) throw invalidDecision(`${where}.data`, 'it must be an object or an array of objects');
      return { kind: 'json', data, sent: sentOf(value) };
    }
    case 'refusal': {
      assertKnown(value, ['type', 'refusal'], where);
      assertTexts(value, ['refusal'], where);
      return { kind: 'text', text: String(value['refusal']), sent: value };
    }
    default: {
      assertKnown(value, [...commonMembers, 'text'], where);
      assertTexts(value, ['text'], where);
      return { kind: 'text', text: String(value['text']), sent: sentOf(value) };
    }
  }
}

/** The part without null members. */
const sentOf = (value: Fields): Members =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null));

/** Writes an item in the standard format. */
export const writeItem = ({ sent, member, content }: Item): Members => ({
  ...sent,
  [member]: typeof content === 'string' ? content : content.map((part) => part.sent),
});
