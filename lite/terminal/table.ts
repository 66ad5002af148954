// oxlint-disable-next-line no-control-regex -- the pattern finds control characters to replace them
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Replaces control characters with blanks. Texts of a server may contain sequences that change the terminal. */
export const plain = (text: string): string => text.replaceAll(CONTROL, ' ');

/** Text of a cell: `None` for null and undefined, JSON for a value that is no string. Without control characters. */
export function cell(value: unknown): string {
  if (value === undefined || value === null) return 'None';
  return plain(typeof value === 'string' ? value : JSON.stringify(value));
}

export const jsonText = (value: unknown): string => JSON.stringify(value, null, 2) ?? 'null';

/** Matches a character of two columns: East Asian scripts and emoji. */
const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{1f300}-\u{1faff}]/u;

const widthOf = (text: string): number => Array.from(text).reduce((sum, char) => sum + (WIDE.test(char) ? 2 : 1), 0);
const padded = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - widthOf(text)));

/** Draws a table in a box. A row has as many cells as `head`. */
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
