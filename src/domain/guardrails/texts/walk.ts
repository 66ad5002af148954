import { isJsonObject, type JsonObject } from '../../json-object.ts';
import type { GuardedText, TextRole } from '../guardrail.ts';

export type Members = JsonObject;
type Path = readonly (string | number)[];

/** A text and its place in a JSON value. */
export interface TextPlace extends GuardedText {
  readonly path: Path;
}

/** Collects the texts of a JSON value with their places. */
export interface Walk {
  readonly places: TextPlace[];
  /** The texts of a content in any dialect: a text, a list of parts, or one part with its tool calls and results. */
  content(value: unknown, path: Path, role: TextRole | null): void;
  /** Every text in a value, except those of `skipped` members. */
  everything(value: unknown, path: Path, role: TextRole | null, skipped?: ReadonlySet<string>): void;
}

/** Maximum nesting of a value. Deeper texts are not found: callers must refuse deeper values. */
const MAX_LEVELS = 512;

export const isMembers = (value: unknown): value is Members => isJsonObject(value);

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/**
 * Members of a part that contain a text or a nested content. Thoughts are checked, also those that their vendor has
 * signed. A vendor refuses a signed thought that a guardrail has masked.
 */
const CONTENT_MEMBERS = [
  'text',
  'content',
  'output',
  'parts',
  'summary',
  'refusal',
  'title',
  'context',
  'transcript',
  'source',
  'thinking',
  'thinking_blocks',
  'reasoning',
  'reasoning_content',
  'reasoning_details',
  'code',
  'citations',
  'cited_text',
  'annotations',
];
/** Members of a part that are values of tools. */
const TOOL_VALUE_MEMBERS = [
  'input',
  'args',
  'response',
  'json',
  'arguments',
  'action',
  'operation',
  'results',
  'outputs',
  'queries',
  'variables',
];
/** Members of a part that hold a part. */
const PART_MEMBERS = [
  'functionCall',
  'function_call',
  'functionResponse',
  'function_response',
  'function',
  'custom',
  'executableCode',
  'executable_code',
  'codeExecutionResult',
  'code_execution_result',
  'audio',
  'url_citation',
];
/** Members of the tool value `action` that are not texts. */
const ACTION_SKIPS: ReadonlySet<string> = new Set(['type']);
const NO_MEMBERS: ReadonlySet<string> = new Set();

/** A text with its `\uXXXX` escapes decoded, so that filters find words in it. */
export const withoutEscapes = (text: string): string =>
  text.includes('\\u')
    ? text.replaceAll(/\\u([\da-f]{4})/gi, (_escape, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    : text;

/**
 * A value of a tool whose escapes are decoded, if it is a text with `\uXXXX` escapes. JSON text stays JSON text with
 * the same value.
 */
function withDecodedEscapes(value: unknown): unknown {
  if (typeof value !== 'string' || !value.includes('\\u')) return value;
  try {
    return JSON.stringify(JSON.parse(value));
  } catch {
    return withoutEscapes(value);
  }
}

export function createWalk(): Walk {
  const places: TextPlace[] = [];
  const addText = (text: string, path: Path, role: TextRole | null): void => {
    if (text !== '') places.push({ text, path, role });
  };

  function everything(value: unknown, path: Path, role: TextRole | null, skipped = NO_MEMBERS): void {
    if (path.length > MAX_LEVELS) return;
    if (typeof value === 'string') addText(value, path, role);
    else if (Array.isArray(value))
      for (const [index, one] of value.entries()) everything(one, [...path, index], role, skipped);
    else if (isMembers(value))
      for (const [name, one] of Object.entries(value))
        if (!skipped.has(name)) everything(one, [...path, name], role, skipped);
  }

  function part(value: Members, path: Path, role: TextRole | null): void {
    const { type } = value;
    // Text documents and JSON inputs have their content in `data`.
    if (type === 'text' || type === 'input_json') everything(value['data'], [...path, 'data'], role);
    for (const name of CONTENT_MEMBERS) if (name in value) content(value[name], [...path, name], role);
    for (const name of TOOL_VALUE_MEMBERS)
      if (name in value)
        everything(
          withDecodedEscapes(value[name]),
          [...path, name],
          role,
          name === 'action' ? ACTION_SKIPS : NO_MEMBERS,
        );
    for (const name of PART_MEMBERS) {
      const inner = value[name];
      if (isMembers(inner)) part(inner, [...path, name], role);
    }
    if ('tool_calls' in value) content(value['tool_calls'], [...path, 'tool_calls'], role);
  }

  function content(value: unknown, path: Path, role: TextRole | null): void {
    if (path.length > MAX_LEVELS) return;
    if (typeof value === 'string') addText(value, path, role);
    else if (Array.isArray(value)) for (const [index, one] of value.entries()) content(one, [...path, index], role);
    else if (isMembers(value)) part(value, path, role);
  }

  return { places, content, everything };
}

/** The members of a value with changed texts: `texts` has the new text of each place. The value itself is unchanged. */
export function withTexts(value: Members, places: readonly TextPlace[], texts: readonly string[]): Members {
  const changed: Record<string, unknown> = {};
  for (const [index, { path, text }] of places.entries()) {
    const next = texts[index];
    const [member] = path;
    if (next === undefined || next === text || typeof member !== 'string') continue;
    if (!Object.hasOwn(changed, member)) changed[member] = structuredClone(value[member]);
    setTextAt(changed, path, next);
  }
  return changed;
}

/** The value at a path; undefined where there is none. */
export function valueAt(root: unknown, path: Path): unknown {
  let value = root;
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<string | number, unknown>)[step];
  }
  return value;
}

/** Replaces the text at a path. */
export function setTextAt(root: object, path: Path, text: string): void {
  const parent = valueAt(root, path.slice(0, -1));
  const last = path.at(-1);
  // An assignment would not work for a member with the name `__proto__`.
  if (last !== undefined)
    Object.defineProperty(parent, last, { value: text, writable: true, enumerable: true, configurable: true });
}
