import type { JsonObject } from '../../domain/json-object.ts';
import { topLevelMembers } from './members.ts';

/** Integer keys. JavaScript sorts them before all other keys of an object. */
const INTEGER_KEY = /^(0|[1-9]\d{0,9})$/;

/**
 * Keys of a parsed JSON object, in the order of `text`, its JSON text. When `text` is null or has other keys, the
 * keys have the order of the parsed object.
 */
export function keysInOrder(value: JsonObject, text: Uint8Array | null): readonly string[] {
  const keys = Object.keys(value);
  if (text === null || keys.length < 2 || !keys.some((key) => INTEGER_KEY.test(key))) return keys;
  const orderedKeys = [...new Set((topLevelMembers(text) ?? []).map(({ key }) => key))];
  const hasSameKeys = orderedKeys.length === keys.length && orderedKeys.every((key) => Object.hasOwn(value, key));
  return hasSameKeys ? orderedKeys : keys;
}

/** JSON text of the value of the last member with this key, in the JSON text of an object. Null when there is none. */
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
