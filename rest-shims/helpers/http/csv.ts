/** A value of a table; null is an empty cell. */
export type Cell = string | number | null;

/** Begin of a text that a spreadsheet would take for a formula. */
const FORMULA = /^[=+\-@\t\r]/;
const QUOTED = /[",\r\n]/;

/** Quotes what has commas, quotes or line ends. A text that begins as a formula gets an apostrophe before it. */
function cellText(cell: Cell | undefined): string {
  if (cell === null || cell === undefined) return '';
  if (typeof cell === 'number') return String(cell);
  const text = FORMULA.test(cell) ? `'${cell}` : cell;
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A table as CSV (RFC 4180) with a line of its columns. */
export function csvOf<Name extends string>(
  columns: readonly Name[],
  rows: readonly Readonly<Record<Name, Cell>>[],
): string {
  const lines = [columns.join(','), ...rows.map((row) => columns.map((name) => cellText(row[name])).join(','))];
  return lines.map((line) => `${line}\r\n`).join('');
}
