import { CompiledQuery, type Kysely, sql, type RawBuilder } from 'kysely';
import { storable } from '../../domain/storable.ts';
import type { Orm, SqlFlavour } from './database.ts';
import type { Tables } from './tables.ts';

/** A column, from its entity's metadata. */
export interface Column<Name extends string = string> {
  readonly name: Name;
  readonly sqlType: string;
  /** Type of the property in TypeScript. */
  readonly runtimeType: string;
  readonly nullable: boolean;
  /** Name of the property. */
  readonly property: string;
}

/** A table for row access; its columns come from the entity's metadata. */
export interface RowTable<Name extends keyof Tables> {
  readonly name: Name;
  readonly columns: readonly Column<keyof Tables[Name] & string>[];
}

/** The table with this name, with columns from the metadata of its entity. */
export function rowTable<Name extends keyof Tables>(orm: Orm, name: Name): RowTable<Name> {
  const metadata = orm
    .getMetadata()
    .getAll()
    .values()
    .find(({ tableName }) => tableName === name);
  const columns = (metadata?.props ?? []).map(({ name: property, fieldNames, columnTypes, runtimeType, nullable }) => ({
    name: fieldNames[0] as keyof Tables[Name] & string,
    sqlType: columnTypes[0] ?? 'text',
    runtimeType,
    nullable: nullable ?? false,
    property,
  }));
  return { name, columns };
}

/** The same table without some columns: generated columns, or columns that a reader does not need. */
export function tableWithout<Name extends keyof Tables>(
  { name, columns }: RowTable<Name>,
  ...unwanted: readonly (keyof Tables[Name] & string)[]
): RowTable<Name> {
  return { name, columns: columns.filter((column) => !unwanted.includes(column.name)) };
}

export function columnNames<Name extends keyof Tables>({ columns }: RowTable<Name>) {
  return columns.map(({ name }) => name);
}

/** A row for `rowsFrom`: the JSON list of its values, in the order of the columns. */
export type EncodedRow = string & { readonly encoded: true };

export function encodeRow<Name extends keyof Tables>(
  { columns }: RowTable<Name>,
  row: Readonly<Partial<Record<keyof Tables[Name] & string, unknown>>>,
): EncodedRow {
  return JSON.stringify(columns.map(({ name }) => row[name])) as EncodedRow;
}

function storedValue(value: unknown): unknown {
  if (typeof value === 'string') return storable(value);
  return value instanceof Date ? value.getTime() : value;
}

/** Encodes the properties of an object as a row: times as Unix ms, texts as `storable` returns them. */
export function encodeValues<Name extends keyof Tables>({ columns }: RowTable<Name>, values: object): EncodedRow {
  const named = values as Readonly<Record<string, unknown>>;
  return JSON.stringify(columns.map(({ property }) => storedValue(named[property]))) as EncodedRow;
}

/**
 * Encoded rows as a query to insert from. All rows are a single JSON parameter, so the statement stays short and does
 * not reach the limit on parameters. Binding each value would cost the main thread several times as much. 64-bit
 * numbers may be text in the JSON; their columns store them as numbers.
 */
export function rowsFrom<Name extends keyof Tables>(
  flavour: SqlFlavour,
  { columns }: RowTable<Name>,
  encodedRows: readonly EncodedRow[],
): RawBuilder<unknown> {
  const json = `[${encodedRows.join(',')}]`;
  if (flavour === 'postgresql') {
    const picked = columns.map(
      ({ name, sqlType }, position) =>
        sql`cast(value ->> ${sql.lit(position)} as ${sql.raw(sqlType)}) as ${sql.ref(name)}`,
    );
    return sql`select ${sql.join(picked)} from jsonb_array_elements(${json}::jsonb)`;
  }
  const picked = columns.map(({ name }, position) => sql`value ->> ${sql.lit(position)} as ${sql.ref(name)}`);
  // `jsonb_each` returns each row in binary: with `json_each` every column would parse the text of its row again.
  // `where true` keeps SQLite from reading the `on conflict` that may follow as a join condition.
  return sql`select ${sql.join(picked)} from jsonb_each(${json}) where true`;
}

/**
 * Verb of an insert that rolls the transaction back immediately after a failure. Without `or rollback` SQLite copies
 * every page that a statement changes, to be able to undo the statement alone. Only for transactions that do not
 * continue after a failure.
 */
export const insertOrRollback = (flavour: SqlFlavour): string =>
  flavour === 'postgresql' ? 'insert' : 'insert or rollback';

/** Inserts encoded rows; resolves to the rows of the `returning` clause. */
export type Insertion = <Returned = unknown>(
  db: Kysely<Tables>,
  encodedRows: readonly EncodedRow[],
) => Promise<readonly Returned[]>;

/**
 * An insert into a table, with further clauses (`on conflict ...`, `returning ...`). Its text is compiled once, because
 * compiling costs more than running it on a few rows.
 */
export function insertionInto<Name extends keyof Tables>(
  flavour: SqlFlavour,
  table: RowTable<Name>,
  after: RawBuilder<unknown> = sql``,
  verb = 'insert',
): Insertion {
  const columns = sql.join(columnNames(table).map((column) => sql.ref(column)));
  let text: string | null = null;
  return async <Returned>(db: Kysely<Tables>, encodedRows: readonly EncodedRow[]) => {
    text ??=
      sql`${sql.raw(verb)} into ${sql.table(table.name)} (${columns}) ${rowsFrom(flavour, table, [])} ${after}`.compile(
        db,
      ).sql;
    const query = CompiledQuery.raw(text, [`[${encodedRows.join(',')}]`]);
    return (await db.executeQuery<Returned>(query)).rows;
  };
}

/** Maximum number of rows of one statement, so that its work on the main thread takes milliseconds. */
const STATEMENT_ROWS = 1_000;
/** Maximum size of the rows of one statement, in characters or bytes, for the same reason. */
const STATEMENT_SIZE = 1 << 21;

const lengthOf = (encodedRow: string): number => encodedRow.length;

/** Splits rows into batches within the limits of one statement. */
export const statementBatches = <Row extends string>(encodedRows: Iterable<Row>): Generator<readonly Row[]> =>
  splitIntoBatches(encodedRows, lengthOf, STATEMENT_ROWS);

/** Splits rows into batches of at most `mostRows` rows and `STATEMENT_SIZE`. A larger row is a batch of its own. */
export function* splitIntoBatches<Row>(
  all: Iterable<Row>,
  sizeOf: (row: Row) => number,
  mostRows: number,
): Generator<readonly Row[]> {
  let rows: Row[] = [];
  let size = 0;
  for (const row of all) {
    const rowSize = sizeOf(row);
    if (rows.length === mostRows || (rows.length > 0 && size + rowSize > STATEMENT_SIZE)) {
      yield rows;
      rows = [];
      size = 0;
    }
    rows.push(row);
    size += rowSize;
  }
  if (rows.length > 0) yield rows;
}

/** Texts as the right-hand side of `in`, as one parameter. */
export const textsIn = (flavour: SqlFlavour, texts: readonly string[]): RawBuilder<string> =>
  textsInJson(flavour, sql`${JSON.stringify(texts)}`);

/** As `textsIn`, for texts that are a JSON list already. */
export function textsInJson(flavour: SqlFlavour, json: RawBuilder<string>): RawBuilder<string> {
  return flavour === 'postgresql'
    ? sql<string>`(select json_array_elements_text(${json}::json))`
    : sql<string>`(select value from json_each(${json}))`;
}

/** The elements of a JSON list as a relation with the column `value`. */
export const elementsOf = (flavour: SqlFlavour, json: RawBuilder<unknown>): RawBuilder<unknown> =>
  flavour === 'postgresql' ? sql`jsonb_array_elements(${json}::jsonb)` : sql`json_each(${json})`;

/** The texts of a column with a JSON list, as a relation with the column `value`. PostgreSQL joins it laterally. */
export const textsOf = (flavour: SqlFlavour, column: string): string =>
  flavour === 'postgresql' ? `jsonb_array_elements_text(${column}::jsonb)` : `json_each(${column})`;

/** Row numbers, given as texts, as the right-hand side of `in`, as one parameter. */
export const numbersIn = (flavour: SqlFlavour, numbers: readonly string[]): RawBuilder<string> =>
  numbersInJson(flavour, sql`${JSON.stringify(numbers)}`);

/** As `numbersIn`, for numbers that are a JSON list of texts already. */
export function numbersInJson(flavour: SqlFlavour, json: RawBuilder<string>): RawBuilder<string> {
  const texts = textsInJson(flavour, json);
  return flavour === 'postgresql' ? sql<string>`(select cast(value as bigint) from ${texts} as t(value))` : texts;
}

/** Tuples of `width` texts as the right-hand side of `in`, as one parameter. */
export function tuplesIn(
  flavour: SqlFlavour,
  width: number,
  tuples: readonly (readonly string[])[],
): RawBuilder<unknown> {
  return tuplesInJson(flavour, width, sql`${JSON.stringify(tuples)}`);
}

/** As `tuplesIn`, for tuples that are a JSON list already. */
export function tuplesInJson(flavour: SqlFlavour, width: number, json: RawBuilder<string>): RawBuilder<unknown> {
  const parts = sql.join(Array.from({ length: width }, (_, position) => sql`value ->> ${sql.lit(position)}`));
  return flavour === 'postgresql'
    ? sql`(select ${parts} from jsonb_array_elements(${json}::jsonb))`
    : sql`(select ${parts} from json_each(${json}))`;
}

/** Whether a column has 64 bits, row numbers included: they are `integer` in SQLite, `bigserial` in PostgreSQL. */
export function isWide({ sqlType, runtimeType }: Column): boolean {
  return sqlType.startsWith('big') || (sqlType === 'integer' && runtimeType === 'string');
}

/**
 * All columns of a table to select, with the types of their properties. 64-bit columns need a cast: the SQLite addon
 * reads them as doubles and PostgreSQL's driver as text. Order by `table.column`: a column name without its table means
 * the cast expression, which has no index.
 */
export function everyColumn<Name extends keyof Tables>({ name: table, columns }: RowTable<Name>) {
  return columns.map((declared) => {
    const { name } = declared;
    const column = sql.ref(`${table}.${name}`);
    if (!isWide(declared)) return column.as(name);
    const wanted = declared.runtimeType === 'number' ? sql`double precision` : sql`text`;
    return sql`cast(${column} as ${wanted})`.as(name);
  });
}
