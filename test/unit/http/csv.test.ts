import { expect, it } from 'vitest';
import { type Cell, csvOf } from '../../../rest-shims/helpers/http/csv.ts';

const cell = (value: Cell): string => csvOf(['a'], [{ a: value }]).slice('a\r\n'.length, -'\r\n'.length);

it('a CSV text has a line of column names, with and without rows', () => {
  expect(csvOf(['a', 'b'], [])).toBe('a,b\r\n');
  expect(csvOf(['a', 'b'], [{ a: 'x', b: 1.5 }])).toBe('a,b\r\nx,1.5\r\n');
});

it.each([
  [null, ''],
  ['', ''],
  [0, '0'],
  [-2, '-2'],
  ['a b', 'a b'],
  ['a,b', '"a,b"'],
  ['say "hi"', '"say ""hi"""'],
  ['two\nlines', '"two\nlines"'],
  // Spreadsheets would evaluate a text that begins with one of these characters.
  ['=1+1', "'=1+1"],
  ['@x,y', `"'@x,y"`],
  ['-x', "'-x"],
])('the value %j is written as %s', (value, expected) => {
  expect(cell(value)).toBe(expected);
});
