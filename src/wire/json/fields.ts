import { isJsonObject, type JsonObject } from '../../domain/json-object.ts';
import { asBuffer } from './members.ts';

/** Object of parsed JSON. */
export type Fields = JsonObject;

/** The value if it is an object, else an empty object. */
export const object = (value: unknown): Fields => (isJsonObject(value) ? value : {});

/** The value if it is a string, else null. */
export const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** The value if it is a finite number, else null. */
export const number = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? value : null;

/** The value if it is an array, else an empty array. */
export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The value if it is a safe integer of at least 0, else null. */
export const count = (value: unknown): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;

/** Parsed JSON. Undefined when the bytes are not valid JSON. */
export function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(asBuffer(bytes).toString('utf8'));
  } catch {
    return undefined;
  }
}

/** The object without members that are null or undefined. */
export const withoutNulls = (fields: Fields): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));

/**
 * Table for keys that come from outside. It has no prototype, so that keys such as `constructor` and `__proto__` have
 * no value.
 */
export const lookupTable = <Value>(entries: Readonly<Record<string, Value>>): Readonly<Record<string, Value>> =>
  Object.assign(Object.create(null) as Record<string, Value>, entries);

/** Arguments of a tool call as an object, empty for blank text. Other invalid text is kept in `malformed_arguments`. */
export function argumentsOf(json: string): Fields {
  const value = json.trim() === '' ? {} : parseJson(Buffer.from(json));
  return isJsonObject(value) ? value : { malformed_arguments: json };
}
