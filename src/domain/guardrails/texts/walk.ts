import type { GuardedText, TextRole } from '../guardrail.ts';

export type Members = Readonly<Record<string, unknown>>;
type Path = readonly (string | number)[];

/** A text and its place in a JSON value. */
export interface Place extends GuardedText {
  readonly path: Path;
}

/** Collects the texts of a JSON value with their places. */
export interface Walk {
  readonly places: Place[];
  /** The texts of a content in any dialect: a text, a list of parts, or one part with its tool calls and results. */
  content(value: unknown, path: Path, role: TextRole | null): void;
  /** Every text in a value, except those of `skipped` members. */
  everything(value: unknown, path: Path, role: TextRole | null, skipped?: ReadonlySet<string>): void;
}

/** Most levels of a value. Texts below are not found, so deeper values are refused before. */
const MOST_LEVELS = 512;

export const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Parts that have no text, or a text that its vendor has signed. */
const WITHOUT_TEXT = new Set(['image', 'image_url', 'input_image', 'input_audio', 'thinking', 'redacted_thinking']);
/** Members of a part that are a text or a content of their own. */
const CONTENTS = ['text', 'content', 'output', 'parts', 'summary', 'refusal', 'title', 'context', 'transcript'];
/** Members of a part that are values of tools. */
const VALUES = ['input', 'args', 'response', 'json', 'arguments'];
/** Members of a part that hold a part. */
const NESTED = ['functionCall', 'function_call', 'functionResponse', 'function_response', 'function', 'custom'];
const NO_MEMBERS: ReadonlySet<string> = new Set();

export function createWalk(): Walk {
  const places: Place[] = [];
  const found = (text: string, path: Path, role: TextRole | null): void => {
    if (text !== '') places.push({ text, path, role });
  };

  function everything(value: unknown, path: Path, role: TextRole | null, skipped = NO_MEMBERS): void {
    if (path.length > MOST_LEVELS) return;
    if (typeof value === 'string') found(value, path, role);
    else if (Array.isArray(value))
      for (const [index, one] of value.entries()) everything(one, [...path, index], role, skipped);
    else if (isMembers(value))
      for (const [name, one] of Object.entries(value))
        if (!skipped.has(name)) everything(one, [...path, name], role, skipped);
  }

  function part(value: Members, path: Path, role: TextRole | null): void {
    const { type } = value;
    if (typeof type === 'string' && WITHOUT_TEXT.has(type)) return;
    if (value['thought'] === true) return;
    const source = value['source'];
    if (isMembers(source) && source['type'] === 'text') everything(source['data'], [...path, 'source', 'data'], role);
    if (isMembers(source) && source['type'] === 'content')
      content(source['content'], [...path, 'source', 'content'], role);
    if (type === 'input_json') everything(value['data'], [...path, 'data'], role);
    for (const name of CONTENTS) if (name in value) content(value[name], [...path, name], role);
    for (const name of VALUES) if (name in value) everything(value[name], [...path, name], role);
    for (const name of NESTED) {
      const inner = value[name];
      if (isMembers(inner)) part(inner, [...path, name], role);
    }
    if ('tool_calls' in value) content(value['tool_calls'], [...path, 'tool_calls'], role);
  }

  function content(value: unknown, path: Path, role: TextRole | null): void {
    if (path.length > MOST_LEVELS) return;
    if (typeof value === 'string') found(value, path, role);
    else if (Array.isArray(value)) for (const [index, one] of value.entries()) content(one, [...path, index], role);
    else if (isMembers(value)) part(value, path, role);
  }

  return { places, content, everything };
}

/**
 * The members of a value with other texts at some places. Only members with a changed text are returned; the value stays
 * as it is.
 */
export function withTexts(value: Members, places: readonly Place[], texts: readonly string[]): Members {
  const changed: Record<string, unknown> = {};
  for (const [index, { path, text }] of places.entries()) {
    const next = texts[index];
    const [member] = path;
    if (next === undefined || next === text || typeof member !== 'string') continue;
    if (!Object.hasOwn(changed, member)) changed[member] = structuredClone(value[member]);
    setAt(changed, path, next);
  }
  return changed;
}

function setAt(root: Record<string, unknown>, path: Path, text: string): void {
  let at: unknown = root;
  for (const step of path.slice(0, -1)) at = (at as Record<string | number, unknown>)[step];
  const last = path.at(-1);
  // A member by the name of the prototype is a member like any other.
  if (last !== undefined)
    Object.defineProperty(at, last, { value: text, writable: true, enumerable: true, configurable: true });
}
