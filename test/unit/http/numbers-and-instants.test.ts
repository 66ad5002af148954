import { expect, it } from 'vitest';
import { wholeNumber } from '../../../rest-shims/helpers/http/body-fields.ts';
import { instant, type Reader, wholeOf } from '../../../rest-shims/helpers/http/strict-fields.ts';
import type { Issue } from '../../../src/domain/errors.ts';

/** The value that a reader returns, or the rule that the input breaks. */
function valueOrRule<Value>(read: Reader<Value>, input: unknown): Value | string | undefined {
  const issues: Issue[] = [];
  const value = read(input, [], issues);
  return issues.length === 0 ? value : issues.map(({ rule }) => rule).join(', ');
}

it.each([
  ['9007199254740991', 2 ** 53 - 1],
  ['-0.0', -0],
  ['1.5', 'int_from_float'],
  ['1e16', 'int_parsing_size'],
  ['-1e300', 'int_parsing_size'],
  ['1e400', 'finite_number'],
])('a whole number is a safe integer; the error names what is wrong: %s', (json, expected) => {
  const input: unknown = JSON.parse(json);
  const read = wholeNumber(input);
  expect('value' in read ? read.value : read.rule).toBe(expected);
  expect(valueOrRule(wholeOf(), input)).toBe(expected);
});

it('a whole number out of bounds breaks the rule of the bound, also if it is too large for a double', () => {
  expect(valueOrRule(wholeOf({ max: 100 }), 1e16)).toBe('less_than_equal');
});

it.each([
  ['2026-11-29T10:00:00Z', '2026-11-29T10:00:00.000Z'],
  ['2026-11-29T10:00:00.123456+01:00', '2026-11-29T09:00:00.123Z'],
  ['2026-11-29 10:00-0530', '2026-11-29T15:30:00.000Z'],
])('an instant is ISO 8601 with a time zone: %s', (text, expected) => {
  expect(valueOrRule(instant, text)).toEqual(new Date(expected));
});

it.each([
  ['Nov 29 2026 10:00 +0100', 'datetime_from_date_parsing'],
  ['Sun, 29 Nov 2026 10:00:00 +0000', 'datetime_from_date_parsing'],
  ['2026-02-29T10:00:00Z', 'datetime_from_date_parsing'],
  ['2026-11-29T24:00:00Z', 'datetime_from_date_parsing'],
  ['2026-11-29T10:00+01', 'datetime_from_date_parsing'],
  ['2026-11-29', 'timezone_aware'],
  ['2026-11-29T10:00:00', 'timezone_aware'],
  [1_796_000_000, 'datetime_type'],
])('other input is no instant: %s', (input, rule) => {
  expect(valueOrRule(instant, input)).toBe(rule);
});
