import { isJsonObject, type JsonObject } from '../json-object.ts';

/** Maximum number of opening braces from which an object is looked for. */
const MOST_STARTS = 64;

/** End of the object that begins at `start`, exclusive; -1 where it does not end. */
function endOfObject(text: string, start: number): number {
  let depth = 0;
  let isInText = false;
  for (let at = start; at < text.length; at += 1) {
    const sign = text[at];
    if (isInText) {
      if (sign === '\\') at += 1;
      else if (sign === '"') isInText = false;
    } else if (sign === '"') isInText = true;
    else if (sign === '{') depth += 1;
    else if (sign === '}') {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return -1;
}

/** The first complete JSON object in a text; null for none. Models write texts and code fences around it. */
export function firstJsonObject(text: string): JsonObject | null {
  let start = text.indexOf('{');
  for (let tries = 0; start !== -1 && tries < MOST_STARTS; tries += 1) {
    const end = endOfObject(text, start);
    if (end !== -1) {
      const value = parsed(text.slice(start, end));
      if (isJsonObject(value)) return value;
    }
    start = text.indexOf('{', start + 1);
  }
  return null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Whether an object has exactly these members. */
export const hasExactly = (value: unknown, members: readonly string[]): value is JsonObject =>
  isJsonObject(value) &&
  Object.keys(value).length === members.length &&
  members.every((member) => Object.hasOwn(value, member));

export const isProbability = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 && value <= 1;

/** Text, at most `most` characters. */
export const isShortText = (value: unknown, most: number): value is string =>
  typeof value === 'string' && value.length <= most;
