import type { JsonObject } from '../json-object.ts';
import type { Visibility } from '../caller.ts';
import { Unavailable } from '../errors.ts';

type QueryDialect = 'sqlite' | 'postgresql' | 'clickhouse';

/** Limits of queries. For each owner, at most one query runs and one waits. */
export const QUERY_LIMITS = {
  timeMs: 10_000,
  rows: 1_000,
  /** Characters of all rows of one query as JSON. */
  characters: 4_000_000,
  /** Queries that run at the same time. */
  atOnce: 2,
  /** Queries that wait at the same time. */
  waiting: 16,
  /** Characters of the text of one query. */
  text: 20_000,
} as const;

export const QUERY_VIEWS = ['spans', 'traces', 'spend'] as const;
type QueryView = (typeof QUERY_VIEWS)[number];

/** A column of a view. */
export interface QueryColumn {
  readonly table: QueryView;
  readonly name: string;
  readonly type: string;
}

export type QueryRow = JsonObject;

/** Rows of a query: at most as many as the limit. */
export interface QueryRows {
  readonly rows: readonly QueryRow[];
  /** Whether the query has more rows than the limit. */
  readonly truncated: boolean;
}

/** Failure of a query in the database, for example above a limit of time, memory or characters. */
export const queryExceeded = (cause?: unknown): Unavailable =>
  new Unavailable('Trace SQL query failed or exceeded reader limits', null, { cause });

/**
 * The rows within the limit. `rows` has at most one row more than the limit. Throws Unavailable above the limit of
 * characters.
 */
export function limitedRows(rows: readonly QueryRow[]): QueryRows {
  const limited = rows.slice(0, QUERY_LIMITS.rows);
  if (JSON.stringify(limited).length > QUERY_LIMITS.characters) throw queryExceeded();
  return { rows: limited, truncated: rows.length > limited.length };
}

const VALUE_TYPES = ['integer', 'number', 'text', 'boolean', 'json', 'null'] as const;
export type ValueType = (typeof VALUE_TYPES)[number];

/** A column of an answer. */
export interface AnswerColumn {
  readonly name: string;
  /**
   * Common type of its values without nulls: `null` without a value, `number` for integers and numbers, `json` for
   * other mixes.
   */
  readonly type: ValueType;
}

function valueTypeOf(value: unknown): ValueType {
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  if (typeof value === 'string' || value instanceof Date) return 'text';
  if (typeof value === 'boolean') return 'boolean';
  return value === null || value === undefined ? 'null' : 'json';
}

function commonType(one: ValueType, other: ValueType): ValueType {
  if (one === other || other === 'null') return one;
  if (one === 'null') return other;
  const areNumbers = [one, other].every((type) => type === 'integer' || type === 'number');
  return areNumbers ? 'number' : 'json';
}

/** The columns of rows, in the order of the query. Empty without rows. */
export function columnsOfRows(rows: readonly QueryRow[]): readonly AnswerColumn[] {
  return Object.keys(rows[0] ?? {}).map((name) => ({
    name,
    type: rows.reduce<ValueType>((type, row) => commonType(type, valueTypeOf(row[name])), 'null'),
  }));
}

/** Caller of a query. */
interface QueryReader {
  readonly visibility: Visibility;
  /** Opaque id of the caller. For each owner, one query runs at a time. */
  readonly owner: string;
  /** Its abort ends the wait for other queries, and a running query on SQLite or ClickHouse. */
  readonly signal: AbortSignal;
}

/** SQL over the views of traces and spend. */
export interface TraceQueries {
  /**
   * Dialect of queries that read traces or spans. Where it is `clickhouse`, queries that read only spend use the
   * dialect of the SQL database.
   */
  readonly dialect: QueryDialect;
  /**
   * The rows of a query, from visible rows only, in a read-only connection. Throws InvalidInput for a query that
   * `guardedQuery` or the database refuses. Throws Unavailable above a limit of time, memory, characters or concurrent
   * queries, and when the database fails. Throws the reason of the signal when it aborts the wait.
   */
  run(reader: QueryReader, sql: string): Promise<QueryRows>;
  columns(): Promise<readonly QueryColumn[]>;
}
