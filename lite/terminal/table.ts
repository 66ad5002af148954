/** Tables and JSON for terminals. */

// Texts of a server may contain sequences that change the terminal.
// oxlint-disable-next-line no-control-regex -- control characters are what it removes
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** A text without control characters, for a terminal. */
export const plain = (text: string): string => text.replaceAll(CONTROL, ' ');

/** One cell: texts as they are, null as `None`, others as JSON. */
export function cell(value: unknown): string {
  if (value === undefined || value === null) return 'None';
  return plain(typeof value === 'string' ? value : JSON.stringify(value));
}

/** A value as indented JSON. */
export const jsonText = (value: unknown): string => JSON.stringify(value, null, 2) ?? 'null';

/** Code points of a wide character, as in East Asian scripts and emoji. */
const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{1f300}-\u{1faff}]/u;

const widthOf = (text: string): number => Array.from(text).reduce((sum, char) => sum + (WIDE.test(char) ? 2 : 1), 0);
const padded = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - widthOf(text)));

/** A box with a title, a head and rows. A row has as many cells as the head. */
export function table(title: string, head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((name, index) => Math.max(widthOf(name), ...rows.map((row) => widthOf(row[index] ?? ''))));
  const rule = (left: string, line: string, between: string, right: string): string =>
    left + widths.map((width) => line.repeat(width + 2)).join(between) + right;
  const line = (cells: readonly string[], edge: string): string =>
    `${edge}${widths.map((width, index) => ` ${padded(cells[index] ?? '', width)} `).join(edge)}${edge}`;
  const total = widths.reduce((sum, width) => sum + width + 3, 1);
  const indent = ' '.repeat(Math.max(0, Math.floor((total - widthOf(title)) / 2)));
  return [
    ...(title === '' ? [] : [indent + title]),
    rule('┏', '━', '┳', '┓'),
    line(head, '┃'),
    rule('┡', '━', '╇', '┩'),
    ...rows.map((row) => line(row, '│')),
    rule('└', '─', '┴', '┘'),
  ].join('\n');
}
