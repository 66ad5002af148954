import { InvalidInput } from '../../errors.ts';
import type { Endpoint } from '../../inference/endpoint.ts';
import type { TextRole } from '../guardrail.ts';
import { createWalk, isMembers, listOf, type Members, type TextPlace, type Walk } from './walk.ts';

/** Members of a decision's input that are not texts of the caller. */
export const DECISION_SKIPS: ReadonlySet<string> = new Set([
  'type',
  'role',
  'image_url',
  'id',
  'call_id',
  'status',
  'phase',
]);

const ROLES: Readonly<Record<string, TextRole>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
  model: 'assistant',
  tool: 'tool',
  function: 'tool',
};

/** Role of items that state no role, by their type. */
const ITEM_ROLES: Readonly<Record<string, TextRole>> = {
  function_call: 'assistant',
  custom_tool_call: 'assistant',
  reasoning: 'assistant',
  function_call_output: 'tool',
  custom_tool_call_output: 'tool',
};

function roleOf({ role, type }: Members): TextRole | null {
  if (typeof role === 'string') return ROLES[role] ?? null;
  return typeof type === 'string' ? (ITEM_ROLES[type] ?? 'user') : 'user';
}

type Reader = (walk: Walk, value: unknown, member: string) => void;

/** A list of messages, turns or items with roles, or a single one, or a text. */
const turns: Reader = (walk, value, member) => {
  const readTurn = (turn: unknown, path: TextPlace['path']): void =>
    walk.content(turn, path, isMembers(turn) ? roleOf(turn) : 'user');
  if (Array.isArray(value)) for (const [index, turn] of value.entries()) readTurn(turn, [member, index]);
  else readTurn(value, [member]);
};
const system: Reader = (walk, value, member) => walk.content(value, [member], 'system');
const plain: Reader = (walk, value, member) => walk.content(value, [member], 'user');
const every: Reader = (walk, value, member) => walk.everything(value, [member], 'user');
const isJsonItem = (value: unknown): value is Members => isMembers(value) && value['type'] === 'input_json';
/** Texts of items. The data of a JSON item may have any member names, so that no member of the data is skipped. */
const decisionInput: Reader = (walk, value, member) => {
  const read = (one: unknown, path: (string | number)[]): void => {
    if (Array.isArray(one)) for (const [index, inner] of one.entries()) read(inner, [...path, index]);
    else if (isJsonItem(one)) walk.everything(one['data'], [...path, 'data'], 'user');
    else if (isMembers(one)) {
      const { content, ...others } = one;
      walk.everything(others, path, 'user', DECISION_SKIPS);
      read(content, [...path, 'content']);
    } else walk.everything(one, path, 'user');
  };
  read(value, [member]);
};

/** Texts of questions. Names and labels are not read, because answers refer to them. */
const questions: Reader = (walk, value, member) => {
  const all: Iterable<readonly [string | number, unknown]> = isMembers(value)
    ? Object.entries(value)
    : listOf(value).entries();
  for (const [key, question] of all) {
    if (!isMembers(question)) continue;
    walk.everything(question['instructions'], [member, key, 'instructions'], 'user', DECISION_SKIPS);
    walk.everything(question['criteria'], [member, key, 'criteria'], 'user');
    for (const list of ['choices', 'levels'])
      for (const [index, one] of listOf(question[list]).entries())
        if (isMembers(one)) walk.everything(one['description'], [member, key, list, index, 'description'], 'user');
  }
};

const NESTED_SKIPS: ReadonlySet<string> = new Set(['role', 'type', 'model', 'mimeType', 'name', 'id']);
/** A whole request as a member of a request to count tokens. */
const nested: Reader = (walk, value, member) => walk.everything(value, [member], 'user', NESTED_SKIPS);

/** Members that contain texts, in any dialect of conversations. */
const CONVERSATION: Readonly<Record<string, Reader>> = {
  messages: turns,
  contents: turns,
  input: turns,
  prompt: plain,
  suffix: plain,
  system,
  instructions: system,
  systemInstruction: system,
  system_instruction: system,
  prediction: plain,
  generateContentRequest: nested,
  generate_content_request: nested,
};

const DECISION: Readonly<Record<string, Reader>> = {
  input: decisionInput,
  state: every,
  context: every,
  questions,
};

/** Readers of members by the path of an endpoint, for endpoints that are not conversations. */
const READERS_BY_PATH: Readonly<Record<string, Readonly<Record<string, Reader>>>> = {
  '/embeddings': { input: plain },
  '/rerank': { query: plain, documents: every },
  // The document itself is not text.
  '/ocr': { document_annotation_prompt: plain },
  '/decisions': DECISION,
  '/systemone': DECISION,
  '/audio/speech': { input: plain, instructions: plain },
  '/images/generations': { prompt: plain },
  '/images/edits': { prompt: plain },
  '/audio/transcriptions': { prompt: plain },
  '/audio/translations': { prompt: plain },
  // Guardrails do not check the texts of a moderation call: the call itself checks them.
  '/moderations': {},
};

/** Members of decisions that guardrails cannot check, because they are not text. */
const UNREADABLE = ['audio', 'video'];

/**
 * The texts of a request with their places. Throws InvalidInput for a decision about audio or video, which cannot be
 * checked.
 */
export function requestTexts({ path }: Pick<Endpoint, 'path'>, body: Members): readonly TextPlace[] {
  const readers = READERS_BY_PATH[path] ?? CONVERSATION;
  if (readers === DECISION) {
    const media = UNREADABLE.find((member) => body[member] !== undefined && body[member] !== null);
    if (media !== undefined) throw unreadable(media);
  }
  const walk = createWalk();
  for (const [member, read] of Object.entries(readers)) {
    const value = body[member];
    if (value !== undefined && value !== null) read(walk, value, member);
  }
  return walk.places;
}

/** Every text of a JSON object. */
export function allTexts(body: Members): readonly TextPlace[] {
  const walk = createWalk();
  for (const [member, value] of Object.entries(body)) walk.everything(value, [member], null);
  return walk.places;
}

function unreadable(member: string): InvalidInput {
  const message = `The guardrails of this call check texts, and cannot check '${member}'.`;
  return new InvalidInput(message, [{ path: ['body', member], rule: 'unreadable', message }]);
}
