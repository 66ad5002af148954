import { type AliasedRawBuilder, type Selectable, sql } from 'kysely';
import type { SqlFlavour } from './database.ts';
import { type Column, everyColumn, isWide, type RowTable } from './rows.ts';
import type { Tables } from './tables.ts';

/** How rows of a table are selected, and what a row is made of again that was. */
export interface RowReader<Row> {
  /** What to select of the table, beside whatever else. Order by `table.column`. */
  readonly selection: readonly AliasedRawBuilder<unknown, string>[];
  /** The names that these are selected by. */
  readonly names: readonly string[];
  /** The row in what one row of such a query gave. */
  rowOf(found: object): Row;
}

const PACKED = 'packed';

/**
 * Reads rows of many columns. SQLite's addon makes an object of every row, member by member, at three quarters of what
 * a page of a list costs: there each row is one text, the JSON list of its values, which also keeps 64 bits of numbers.
 * Not for columns of bytes.
 */
export function rowReader<Name extends keyof Tables>(
  flavour: SqlFlavour,
  table: RowTable<Name>,
): RowReader<Selectable<Tables[Name]>> {
  type Row = Selectable<Tables[Name]>;
  const { name, columns } = table;
  const names = columns.map((column) => column.name);
  if (flavour === 'postgresql') return { selection: everyColumn(table), names, rowOf: (found) => found as Row };
  const values = columns.map((column) => valueOf(`${name}.${column.name}`, column));
  // Copied and then filled: V8 makes a dictionary of an object that gains so many members one by one.
  const blank = Object.fromEntries(names.map((column) => [column, null]));
  return {
    selection: [sql<string>`json_array(${sql.join(values)})`.as(PACKED)],
    names: [PACKED],
    rowOf(found) {
      const given = JSON.parse((found as { readonly packed: string }).packed) as readonly unknown[];
      const row: Record<string, unknown> = { ...blank };
      for (const [at, column] of names.entries()) row[column] = given[at];
      return row as Row;
    },
  };
}

function valueOf(place: string, column: Column) {
  return isWide(column) && column.runtimeType !== 'number' ? sql`cast(${sql.ref(place)} as text)` : sql.ref(place);
}
