/** A value of a table; null is an empty cell. */
export type Cell = string | number | null;

/** First characters that make a spreadsheet read a text as a formula (CSV injection). */
const FORMULA = /^[=+\-@\t\r]/;
const NEEDS_QUOTES = /[",\r\n]/;

/** Quotes texts with commas, quotes or line ends. Prefixes an apostrophe to a text that starts like a formula. */
function cellText(cell: Cell | undefined): string {
  if (cell === null || cell === undefined) return '';
  if (typeof cell === 'number') return String(cell);
  const text = FORMULA.test(cell) ? `'${cell}` : cell;
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A table as CSV (RFC 4180). The first line has the column names. */
export function csvOf<Name extends string>(
  columns: readonly Name[],
  rows: readonly Readonly<Record<Name, Cell>>[],
): string {
  const lines = [columns.join(','), ...rows.map((row) => columns.map((name) => cellText(row[name])).join(','))];
  return lines.map((line) => `${line}\r\n`).join('');
}
