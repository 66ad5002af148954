import { isJsonObject, type JsonObject } from '../../json-object.ts';

/** One message in the common form of all conventions. */
export interface Message {
  readonly role: string;
  readonly content: string;
  readonly tool_calls?: readonly ToolCall[];
  /** Name of the tool; only in a message with the role `tool`. */
  readonly name?: string;
}

export interface ToolCall {
  readonly name: string;
  /** Usually JSON. A text is unchanged; other values become JSON. */
  readonly arguments: string;
  readonly id?: string;
}

const ROLES: ReadonlyMap<string, string> = new Map([
  ['human', 'user'],
  ['ai', 'assistant'],
  ['model', 'assistant'],
]);
/** LangChain has a message type instead of a role. */
const MESSAGE_TYPES = new Set(['human', 'ai', 'system', 'tool', 'function', 'developer']);
const TOOL_CALL_PARTS = new Set(['function_call', 'tool_use', 'tool_call', 'tool-call']);
const TOOL_RESULT_PARTS = new Set(['tool_result', 'tool_call_response', 'tool-result']);
/** Types of parts that add no text to the message. */
const TEXTLESS_PARTS = new Set(['reasoning', 'thinking', 'redacted_thinking', ...TOOL_CALL_PARTS]);
const PARAGRAPH = '\n\n';

/** The value of a JSON text that holds a list or object; undefined for any other text. */
export function parseStructure(text: string): unknown {
  const first = text.trimStart()[0];
  if (first !== '[' && first !== '{') return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** The messages of a list, or one message, of any known format. Null for other values, and for an empty list. */
export function conversationOf(value: unknown): readonly Message[] | null {
  if (isJsonObject(value)) {
    const message = messageOf(value);
    return message === null ? null : [message];
  }
  if (!Array.isArray(value) || value.length === 0) return null;
  const messages: Message[] = [];
  for (const entry of value as readonly unknown[]) {
    const message = messageOf(entry);
    if (message === null) return null;
    messages.push(message);
  }
  return messages;
}

/** One message of any known format; null for anything else. */
export function messageOf(value: unknown): Message | null {
  if (!isJsonObject(value)) return null;
  const fields = unwrapped(value);
  const role = roleOf(fields);
  const sent = fields['parts'] ?? fields['content'];
  const parts = Array.isArray(sent) ? sent.map(typedPart) : sent;
  if (role === null || (parts === undefined && fields['tool_calls'] === undefined)) return null;
  const content = contentText(parts);
  if (content === null) return null;
  const calls = [...listOf(fields['tool_calls']), ...listOf(parts).filter(isPartOf(TOOL_CALL_PARTS))].flatMap(
    toolCallOf,
  );
  // Some providers send the result of a tool with the role of the user.
  const shownRole = role === 'user' && holdsOnlyResults(parts) ? 'tool' : role;
  const name = fields['name'] ?? toolNameIn(parts);
  return {
    role: shownRole,
    content,
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
    ...(shownRole === 'tool' && typeof name === 'string' && name !== '' ? { name } : {}),
  };
}

/** Name of a role in the common form. */
export const commonRole = (role: string): string => ROLES.get(role.toLowerCase()) ?? role.toLowerCase();

/** Content of the latest user message that is not blank; null without one. */
export function latestUserText(messages: readonly Message[]): string | null {
  return messages.findLast(({ role, content }) => role === 'user' && content.trim() !== '')?.content ?? null;
}

/** A text unchanged, anything else as compact JSON; empty for null and undefined. */
export function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : JSON.stringify(value);
}

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** LangChain puts a message's fields into `kwargs` (constructor form) or `data` (stored form). */
function unwrapped(message: JsonObject): JsonObject {
  if (isJsonObject(message['kwargs'])) return { ...message['kwargs'], id: message['id'] };
  if (isJsonObject(message['data'])) return { type: message['type'], ...message['data'] };
  return message;
}

function roleOf({ role, type, id }: JsonObject): string | null {
  if (typeof role === 'string') return commonRole(role);
  if (typeof type === 'string' && MESSAGE_TYPES.has(type)) return commonRole(type);
  // A constructor's path ends in its class: HumanMessage, AIMessageChunk.
  const className = listOf(id).at(-1);
  const match = typeof className === 'string' ? /^(Human|AI|System|Tool|Function)Message/.exec(className) : null;
  return match?.[1] ? commonRole(match[1]) : null;
}

/** The text of a content for display; null for an unknown format. */
function contentText(content: unknown): string | null {
  if (typeof content === 'string') return content;
  if (content === undefined || content === null) return '';
  if (!Array.isArray(content)) return null;
  const texts = (content as readonly unknown[]).map(partText);
  return texts.includes(null) ? null : texts.filter((text) => text !== '').join(PARAGRAPH);
}

function partText(part: unknown): string | null {
  if (typeof part === 'string') return part;
  if (!isJsonObject(part)) return null;
  const { type } = part;
  if (typeof type === 'string' && TEXTLESS_PARTS.has(type)) return '';
  const content = part['text'] ?? part['content'] ?? part['response'] ?? part['result'] ?? toolOutput(part['output']);
  // Parts without text, such as images, are named by their kind.
  if (content === undefined || content === null) return typeof type === 'string' ? `[${type}]` : null;
  return asText(content);
}

/** Bedrock's parts are named by their only member instead of a type: `toolUse`, `toolResult`. */
function typedPart(part: unknown): unknown {
  if (!isJsonObject(part) || part['type'] !== undefined) return part;
  const { toolUse, toolResult } = part;
  if (isJsonObject(toolUse)) return { ...toolUse, type: 'tool_use', id: toolUse['toolUseId'] };
  return isJsonObject(toolResult)
    ? { type: 'tool_result', content: contentText(toolResult['content']) ?? toolResult }
    : part;
}

/** The AI SDK marks a result as text, JSON or an error. */
const toolOutput = (output: unknown): unknown => (isJsonObject(output) && 'value' in output ? output['value'] : output);

const isPartOf =
  (types: ReadonlySet<string>) =>
  (part: unknown): boolean =>
    isJsonObject(part) && typeof part['type'] === 'string' && types.has(part['type']);

const holdsOnlyResults = (parts: unknown): boolean =>
  Array.isArray(parts) && parts.length > 0 && parts.every(isPartOf(TOOL_RESULT_PARTS));

/** Name of the tool in the only part; undefined for several parts or none. */
function toolNameIn(parts: unknown): unknown {
  const [only, ...others] = listOf(parts);
  return isJsonObject(only) && others.length === 0 ? (only['name'] ?? only['toolName']) : undefined;
}

function toolCallOf(call: unknown): readonly ToolCall[] {
  if (!isJsonObject(call)) return [];
  const called = isJsonObject(call['function']) ? call['function'] : call;
  const id = call['id'] ?? call['call_id'] ?? call['toolCallId'];
  return [
    {
      name: asText(called['name'] ?? called['toolName']),
      arguments: asText(called['arguments'] ?? called['args'] ?? called['input']),
      ...(typeof id === 'string' && id !== '' ? { id } : {}),
    },
  ];
}
