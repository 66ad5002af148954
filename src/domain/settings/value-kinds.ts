import { isJsonObject } from '../json-object.ts';
import { isDuration } from '../budgets/route-budget.ts';
import { durationMs, MAX_WINDOWS } from '../keys/durations.ts';
import { usdFrom } from '../money.ts';

/**
 * Kinds of values of settings. Every kind accepts null, which clears the setting. `duration` is a length of time.
 * `window` is the length of a budget window, `windows` a list of budgets with their windows. `address` is an http(s)
 * address or an empty text, `texts` a list of texts.
 */
export type ValueKind =
  | 'integer'
  | 'number'
  | 'flag'
  | 'text'
  | 'duration'
  | 'window'
  | 'windows'
  | 'address'
  | 'list'
  | 'texts'
  | 'map'
  | 'objects'
  | 'any';

/** Numbers that were sent as texts. An integer of 15 digits is always exact as a number. */
const WHOLE = /^\d{1,15}$/;
const DECIMAL = /^\d{1,15}(\.\d{1,15})?$/;
const FLAGS = /^(true|false|yes|no|on|off|t|f|y|n|1|0)$/i;

const isText = (value: unknown): value is string => typeof value === 'string';

/** Numbers are counts, sizes and times: none is negative. */
const CHECKS: Readonly<Record<ValueKind, (value: unknown) => boolean>> = {
  integer: (value) =>
    (Number.isSafeInteger(value) && Number(value) >= 0) || (isText(value) && WHOLE.test(value.trim())),
  number: (value) =>
    (typeof value === 'number' && Number.isFinite(value) && value >= 0) ||
    (isText(value) && DECIMAL.test(value.trim())),
  flag: (value) => typeof value === 'boolean' || value === 0 || value === 1 || (isText(value) && FLAGS.test(value)),
  text: isText,
  duration: (value) => isText(value) && durationMs(value) !== null,
  window: (value) => isText(value) && isDuration(value),
  windows: (value) => Array.isArray(value) && value.length <= MAX_WINDOWS && value.every(isBudgetWindow),
  address: (value) => value === '' || (isText(value) && isHttpAddress(value)),
  list: (value) => Array.isArray(value),
  texts: (value) => Array.isArray(value) && value.every(isText),
  map: isJsonObject,
  objects: (value) => Array.isArray(value) && value.every(isJsonObject),
  any: () => true,
};

/** Whether a value is one budget with its window: `{budget_duration, max_budget}`. */
function isBudgetWindow(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { budget_duration: duration, max_budget: most } = value;
  return CHECKS.window(duration) && CHECKS.number(most) && usdFrom(most as number | string) !== null;
}

const isHttpAddress = (text: string): boolean => /^https?:$/.test(URL.parse(text)?.protocol ?? '');

/** What a value of each kind is; error messages put it after `expected` or `is not`. */
export const EXPECTED_VALUES: Readonly<Record<ValueKind, string>> = {
  integer: 'a whole number from 0',
  number: 'a number from 0',
  flag: 'true or false',
  text: 'a text',
  duration: 'a duration such as 30s, 10m, 12h or 30d',
  window: 'a duration such as 1h, 1d or 1mo',
  windows: `a list of at most ${MAX_WINDOWS} budgets such as {"budget_duration": "1d", "max_budget": 5}`,
  address: 'an http:// or https:// address',
  list: 'a list',
  texts: 'a list of texts',
  map: 'an object',
  objects: 'a list of objects',
  any: 'any value',
};

/** Whether a value is of a kind; numbers and booleans may be texts, as in the reference. */
export const isOfKind = (kind: ValueKind, value: unknown): boolean => value === null || CHECKS[kind](value);

const TRUE = /^(true|yes|on|t|y|1)$/i;

/**
 * The canonical form of a value. A flag becomes a boolean, also where it was sent as 1 or `yes`. The text of a number
 * becomes a number.
 */
export function canonicalValue(kind: ValueKind, value: unknown): unknown {
  if (kind === 'flag' && (isText(value) || typeof value === 'number')) return TRUE.test(String(value));
  return (kind === 'integer' || kind === 'number') && isText(value) ? Number(value) : value;
}

/** The type of a JSON value, for messages. */
export function typeNameOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'list';
  if (typeof value === 'object') return 'object';
  return typeof value === 'string' ? 'text' : typeof value;
}
