import type { Orm } from '../database/database.ts';
import { type Column, type RowTable, rowTable, tableWithout } from '../database/rows.ts';
import { SPAN_COLUMNS } from '../traces/span-rows.ts';

/** The columns of spans and summaries, taken from the entities. ClickHouse has no row numbers of traces and bodies. */
export interface ClickHouseTables {
  readonly span: RowTable<'span'>;
  readonly summary: RowTable<'trace_summary'>;
}

export function clickHouseTables(orm: Orm): ClickHouseTables {
  const span = rowTable(orm, 'span');
  return {
    span: {
      name: span.name,
      columns: SPAN_COLUMNS.flatMap((name) => span.columns.find((column) => column.name === name) ?? []),
    },
    summary: tableWithout(rowTable(orm, 'trace_summary'), 'trace_no'),
  };
}

/** Columns before those of a span. `arrived` is in Unix microseconds. */
export const SPAN_PREFIX = ['trace_id', 'trace_ref', 'team_id', 'key_hash', 'arrived', 'body_id'] as const;
/** Columns before those of a summary. The row with the greatest version is valid. */
export const SUMMARY_PREFIX = ['arrived', 'version'] as const;
/** Columns before those of a summary in `trace_by_start`. */
export const LISTED_PREFIX = [...SUMMARY_PREFIX, 'deleted'] as const;
export const BODY_COLUMNS = ['body_id', 'arrived', 'version', 'trace_ids', 'format', 'compression', 'base64'] as const;

/** Prepends values to a row that is the text of a JSON list. */
export const rowWith = (values: readonly unknown[], row: string): string =>
  `${JSON.stringify(values).slice(0, -1)},${row.slice(1)}`;

/**
 * Returns a function that converts 64-bit numbers, which ClickHouse sends as text, to numbers where the entity has
 * numbers.
 */
export function numbersOf<Row extends object>({ columns }: { readonly columns: readonly Column[] }) {
  const names = columns.filter(({ runtimeType }) => runtimeType === 'number').map(({ name }) => name);
  return (row: Row): Row => {
    const numbers = names.map((name) => {
      const value = (row as Readonly<Record<string, unknown>>)[name];
      return [name, value === null || value === undefined ? value : Number(value)] as const;
    });
    return { ...row, ...Object.fromEntries(numbers) };
  };
}
