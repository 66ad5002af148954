import { isJsonObject, type JsonObject } from '../json-object.ts';

/** Maximum number of opening braces that are tried as the start of an object. */
const MAX_STARTS = 64;

/** Index after the brace that closes the object at `start`; -1 where no brace closes it. */
function endOfObject(text: string, start: number): number {
  let depth = 0;
  let isInString = false;
  for (let index = start; index < text.length; index += 1) {
    const character = text[index];
    if (isInString) {
      // The character after a backslash cannot end the string.
      if (character === '\\') index += 1;
      else if (character === '"') isInString = false;
      continue;
    }
    if (character === '"') isInString = true;
    if (character === '{') depth += 1;
    if (character !== '}') continue;
    depth -= 1;
    if (depth === 0) return index + 1;
  }
  return -1;
}

/**
 * The first complete JSON object in a text; null for none. Models write other text and code fences around an object.
 */
export function firstJsonObject(text: string): JsonObject | null {
  let start = text.indexOf('{');
  for (let tries = 0; start !== -1 && tries < MAX_STARTS; tries += 1) {
    const end = endOfObject(text, start);
    const value = end === -1 ? null : parsedOrNull(text.slice(start, end));
    if (isJsonObject(value)) return value;
    start = text.indexOf('{', start + 1);
  }
  return null;
}

function parsedOrNull(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}

/** Whether a value is an object with exactly these members. */
export const hasExactly = (value: unknown, members: readonly string[]): value is JsonObject =>
  isJsonObject(value) &&
  Object.keys(value).length === members.length &&
  members.every((member) => Object.hasOwn(value, member));

export const isProbability = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 && value <= 1;

export const isTextUpTo = (value: unknown, maxCharacters: number): value is string =>
  typeof value === 'string' && value.length <= maxCharacters;
