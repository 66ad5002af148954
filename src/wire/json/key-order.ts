import type { JsonObject } from '../../domain/json-object.ts';
import { topLevelMembers } from './members.ts';

/** Keys that JavaScript moves to the front of an object and sorts. */
const INDEX = /^(0|[1-9]\d{0,9})$/;

/**
 * Keys of a parsed JSON object in the order of its text. `text` is the JSON text of the same object; the parsed order applies
 * where the text has other keys.
 */
export function keysInOrder(value: JsonObject, text: Uint8Array | null): readonly string[] {
  const keys = Object.keys(value);
  if (text === null || keys.length < 2 || !keys.some((key) => INDEX.test(key))) return keys;
  const written = [...new Set((topLevelMembers(text) ?? []).map(({ key }) => key))];
  return written.length === keys.length && written.every((key) => Object.hasOwn(value, key)) ? written : keys;
}

/** JSON text of a member of an object in JSON text; null when it has no such member. */
export function memberText(text: Uint8Array | null, key: string): Uint8Array | null {
  const found = text === null ? undefined : topLevelMembers(text)?.findLast((member) => member.key === key);
  return text === null || found === undefined ? null : text.subarray(found.valueStart, found.end);
}

/** JSON text of a value. A Map is written as an object whose members keep its order. */
export function orderedJson(value: unknown): string {
  if (value instanceof Map) return `{${[...value].map(([key, one]) => member(String(key), one)).join(',')}}`;
  return JSON.stringify(value);
}

const member = (key: string, value: unknown): string => `${JSON.stringify(key)}:${orderedJson(value)}`;
