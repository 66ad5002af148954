import { type AliasedRawBuilder, type Selectable, sql } from 'kysely';
import type { SqlFlavour } from '../database/database.ts';
import { type Column, everyColumn, isWide, type RowTable } from '../database/rows.ts';
import type { Tables } from '../database/tables.ts';

/** Selects and decodes rows of a table. */
export interface RowReader<Row> {
  /** Expressions to select. Order by `table.column`. */
  readonly selection: readonly AliasedRawBuilder<unknown, string>[];
  /** Names of the selected expressions. */
  readonly names: readonly string[];
  /** Decodes one row of the query's result. */
  rowOf(found: object): Row;
}

const PACKED = 'packed';

/**
 * Reads rows with many columns. On SQLite each row is one JSON list of its values, unless `packed` is false. Not for
 * blobs. See README.md.
 */
export function rowReader<Name extends keyof Tables>(
  flavour: SqlFlavour,
  table: RowTable<Name>,
  packed: boolean,
): RowReader<Selectable<Tables[Name]>> {
  type Row = Selectable<Tables[Name]>;
  const { name, columns } = table;
  const names = columns.map((column) => column.name);
  if (flavour === 'postgresql' || !packed)
    return { selection: everyColumn(table), names, rowOf: (found) => found as Row };
  const values = columns.map((column) => valueOf(name, column));
  // Each row starts as a copy of this object: V8 turns an object to which many members are added into a slow
  // dictionary.
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

function valueOf(table: string, column: Column) {
  const value = sql.ref(`${table}.${column.name}`);
  return isWide(column) && column.runtimeType !== 'number' ? sql`cast(${value} as text)` : value;
}
