import type { Endpoint } from '../inference/endpoint.ts';
import { isJsonObject, type JsonObject } from '../json-object.ts';
import { requestTexts } from '../guardrails/texts/request-texts.ts';
import type { TextPlace } from '../guardrails/texts/walk.ts';

/** The parts of a conversation that a router reads. */
export interface Conversation {
  /** Instructions of the application; empty for none. */
  readonly system: string;
  /** Texts of the user, one for each turn with a text. Results of tools are left out. */
  readonly userTexts: readonly string[];
  /** Whether the last turn is a turn of the user, without the result of a tool. */
  readonly endsWithUserTurn: boolean;
  /** Whether any turn has an image, also in the result of a tool. */
  readonly hasImage: boolean;
}

const REMINDER_TAGS = /<(\/?)system-reminder>/gi;

/** A text without the `system-reminder` blocks that coding agents add to it. A block without an end tag stays. */
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

/** Whether a value of `type` marks the result of a tool, such as `tool_result` or `function_call_output`. */
const isToolResultType = (type: unknown): boolean =>
  typeof type === 'string' && /(?:^|_)(?:tool_result|call_output)$/.test(type);
/** Members that contain the result of a tool. */
const TOOL_RESULT_MEMBERS: ReadonlySet<string | number> = new Set([
  'functionResponse',
  'function_response',
  'toolResult',
]);

/** Whether a text is inside the result of a tool. In some dialects, turns of the user contain such results. */
function isInToolResult(body: JsonObject, { path, role }: TextPlace): boolean {
  if (role === 'tool') return true;
  let value: unknown = body;
  for (const step of path) {
    if (TOOL_RESULT_MEMBERS.has(step)) return true;
    if (Array.isArray(value)) value = value[Number(step)];
    else if (isJsonObject(value)) value = value[step];
    if (isJsonObject(value) && isToolResultType(value['type'])) return true;
  }
  return false;
}

/** The turns of a body; empty for a prompt that is one text. */
const turnsOf = (body: JsonObject, { input }: Endpoint): readonly unknown[] => {
  const turns = body[input.member];
  return Array.isArray(turns) ? turns : [];
};

/** Roles of turns of the user. Gemini permits turns without a role. */
const USER_ROLES: ReadonlySet<unknown> = new Set(['user', undefined]);

function isUserTurn(turn: unknown): boolean {
  if (typeof turn === 'string') return true;
  if (!isJsonObject(turn) || !USER_ROLES.has(turn['role'])) return false;
  if (isToolResultType(turn['type'])) return false;
  return !partsOf(turn).some(isToolResult);
}

/** The content blocks of a turn, or of a block that is the result of a tool. */
function partsOf(turn: JsonObject): readonly unknown[] {
  const parts = turn['content'] ?? turn['parts'] ?? turn['output'];
  return Array.isArray(parts) ? parts : [];
}

function isToolResult(part: unknown): boolean {
  if (!isJsonObject(part)) return false;
  return isToolResultType(part['type']) || Object.keys(part).some((member) => TOOL_RESULT_MEMBERS.has(member));
}

const IMAGE_TYPES: ReadonlySet<unknown> = new Set(['image', 'image_url', 'input_image']);

function isImage(part: unknown): boolean {
  if (!isJsonObject(part)) return false;
  if (IMAGE_TYPES.has(part['type']) || isJsonObject(part['image'])) return true;
  const media = part['inlineData'] ?? part['inline_data'] ?? part['fileData'] ?? part['file_data'];
  const mimeType: unknown = isJsonObject(media) ? (media['mimeType'] ?? media['mime_type']) : null;
  return typeof mimeType === 'string' && mimeType.startsWith('image/');
}

/** Whether a turn is an image, or has one in its content or in the result of a tool. */
function hasImage(turn: unknown): boolean {
  if (!isJsonObject(turn)) return false;
  const parts = partsOf(turn);
  const innerParts = parts.filter(isJsonObject).flatMap(partsOf);
  return [turn, ...parts, ...innerParts].some(isImage);
}

/** Reads a conversation in the dialect of its endpoint. */
export function conversationOf(endpoint: Endpoint, body: JsonObject): Conversation {
  const turns = turnsOf(body, endpoint);
  const textsByTurn = new Map<string, string[]>();
  const system: string[] = [];
  for (const place of requestTexts(endpoint, body)) {
    if (place.role === 'system') system.push(place.text);
    if (place.role !== 'user' || isInToolResult(body, place)) continue;
    const turn = String(place.path[1] ?? '');
    const texts = textsByTurn.get(turn);
    // Appended in place: a turn may have many thousands of parts, and a copy for each would take quadratic time.
    if (texts === undefined) textsByTurn.set(turn, [place.text]);
    else texts.push(place.text);
  }
  const userTexts = [...textsByTurn.values()].map((texts) => withoutReminders(texts.join('\n')));
  return {
    system: system.join('\n'),
    userTexts: userTexts.filter((text) => text !== ''),
    endsWithUserTurn: turns.length === 0 || isUserTurn(turns.at(-1)),
    hasImage: turns.some(hasImage),
  };
}
