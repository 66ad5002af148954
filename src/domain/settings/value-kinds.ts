/** Kinds of values of settings. Every kind accepts null, which clears the setting. */
export type ValueKind = 'integer' | 'number' | 'flag' | 'text' | 'list' | 'map' | 'objects' | 'any';

const WHOLE = /^[+-]?\d{1,15}$/;
const FLAGS = /^(true|false|yes|no|on|off|t|f|y|n|1|0)$/i;

const isMap = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);
const isTextOfNumber = (value: unknown): boolean =>
  typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value));

const CHECKS: Readonly<Record<ValueKind, (value: unknown) => boolean>> = {
  integer: (value) =>
    typeof value === 'boolean' ||
    Number.isSafeInteger(value) ||
    (typeof value === 'string' && WHOLE.test(value.trim())),
  number: (value) =>
    typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value)) || isTextOfNumber(value),
  flag: (value) =>
    typeof value === 'boolean' || value === 0 || value === 1 || (typeof value === 'string' && FLAGS.test(value)),
  text: (value) => typeof value === 'string',
  list: (value) => Array.isArray(value),
  map: isMap,
  objects: (value) => Array.isArray(value) && value.every(isMap),
  any: () => true,
};

/** Whether a value is of a kind; numbers and booleans may be texts, as in the reference. */
export const isOfKind = (kind: ValueKind, value: unknown): boolean => value === null || CHECKS[kind](value);

const TRUE = /^(true|yes|on|t|y|1)$/i;

/** A value of a kind in its usual form: a flag as boolean, also where it was sent as 1 or `yes`. */
export const usualForm = (kind: ValueKind, value: unknown): unknown =>
  kind === 'flag' && (typeof value === 'string' || typeof value === 'number') ? TRUE.test(String(value)) : value;

/** The type of a JSON value, for messages. */
export function typeNameOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'list';
  if (typeof value === 'object') return 'object';
  return typeof value === 'string' ? 'text' : typeof value;
}
