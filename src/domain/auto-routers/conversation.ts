import type { Endpoint } from '../inference/endpoint.ts';
import { isJsonObject, type JsonObject } from '../json-object.ts';
import { requestTexts } from '../guardrails/texts/request-texts.ts';
import type { TextPlace } from '../guardrails/texts/walk.ts';

/** The parts of a conversation that a router reads. */
export interface Conversation {
  /** Instructions of the application; empty for none. */
  readonly system: string;
  /** Texts of the person, one for each turn with a text. */
  readonly asks: readonly string[];
  /** Whether the last turn is one of the person, and no result of a tool. */
  readonly endsWithAsk: boolean;
  /** Whether the last turn has an image. */
  readonly hasImage: boolean;
}

const REMINDER_TAGS = /<(\/?)system-reminder>/gi;

/** A text without the blocks that coding agents add to it. A block without an end stays. */
export function withoutReminders(text: string): string {
  let kept = '';
  let keptTo = 0;
  let blockStart: number | null = null;
  for (const tag of text.matchAll(REMINDER_TAGS)) {
    const isEnd = tag[1] === '/';
    if (!isEnd) blockStart ??= tag.index;
    if (!isEnd || blockStart === null) continue;
    kept += text.slice(keptTo, blockStart);
    keptTo = tag.index + tag[0].length;
    blockStart = null;
  }
  return (kept + text.slice(keptTo)).trim();
}

/** Types of parts that are results of tools. */
const TOOL_TYPES: ReadonlySet<unknown> = new Set([
  'tool_result',
  'function_call_output',
  'custom_tool_call_output',
  'mcp_tool_result',
]);
const TOOL_MEMBERS: ReadonlySet<string | number> = new Set(['functionResponse', 'function_response', 'toolResult']);

/** Whether a text is inside the result of a tool. Some dialects send these results in turns of the user. */
function isOfTool(body: JsonObject, { path, role }: TextPlace): boolean {
  if (role === 'tool') return true;
  let value: unknown = body;
  for (const step of path) {
    if (TOOL_MEMBERS.has(step)) return true;
    if (Array.isArray(value)) value = value[Number(step)];
    else if (isJsonObject(value)) value = value[step];
    if (isJsonObject(value) && TOOL_TYPES.has(value['type'])) return true;
  }
  return false;
}

/** The list of turns of a body; empty for a prompt that is one text. */
const turnsOf = (body: JsonObject, { input }: Endpoint): readonly unknown[] => {
  const turns = body[input.member];
  return Array.isArray(turns) ? turns : [];
};

const ASKING_ROLES: ReadonlySet<unknown> = new Set(['user', undefined]);

function isAsk(turn: unknown): boolean {
  if (typeof turn === 'string') return true;
  if (!isJsonObject(turn) || !ASKING_ROLES.has(turn['role'])) return false;
  if (TOOL_TYPES.has(turn['type'])) return false;
  const parts = turn['content'] ?? turn['parts'];
  return !(Array.isArray(parts) && parts.some(isToolPart));
}

const isToolPart = (part: unknown): boolean =>
  isJsonObject(part) && (TOOL_TYPES.has(part['type']) || Object.keys(part).some((member) => TOOL_MEMBERS.has(member)));

const IMAGE_TYPES: ReadonlySet<unknown> = new Set(['image', 'image_url', 'input_image']);

function isImage(part: unknown): boolean {
  if (!isJsonObject(part)) return false;
  const inline = part['inlineData'] ?? part['inline_data'] ?? part['fileData'] ?? part['file_data'];
  const mime: unknown = isJsonObject(inline) ? (inline['mimeType'] ?? inline['mime_type']) : null;
  return IMAGE_TYPES.has(part['type']) || isJsonObject(part['image']) || String(mime).startsWith('image/');
}

/** Whether a turn or item has an image, directly or in its content. */
function hasImage(turn: unknown): boolean {
  if (!isJsonObject(turn)) return false;
  const parts = turn['content'] ?? turn['parts'];
  return isImage(turn) || (Array.isArray(parts) && parts.some(isImage));
}

/** Reads a conversation in the dialect of its endpoint. */
export function conversationOf(endpoint: Endpoint, body: JsonObject): Conversation {
  const turns = turnsOf(body, endpoint);
  const asks = new Map<string, string[]>();
  const system: string[] = [];
  for (const place of requestTexts(endpoint, body)) {
    if (place.role === 'system') system.push(place.text);
    if (place.role !== 'user' || isOfTool(body, place)) continue;
    const turn = String(place.path[1] ?? '');
    const texts = asks.get(turn);
    // Appended in place: a turn may have many thousands of parts.
    if (texts === undefined) asks.set(turn, [place.text]);
    else texts.push(place.text);
  }
  const last = turns.at(-1);
  return {
    system: system.join('\n'),
    asks: [...asks.values()].map((texts) => withoutReminders(texts.join('\n'))).filter((text) => text !== ''),
    endsWithAsk: turns.length === 0 || isAsk(last),
    hasImage: turns.some(hasImage),
  };
}
