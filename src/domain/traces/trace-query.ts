import type { Visibility } from '../caller.ts';

type QueryDialect = 'sqlite' | 'postgresql';

/** Limits of one query: time in ms, rows, characters of all rows as JSON, and queries at once. */
export const QUERY_LIMITS = { timeMs: 5_000, rows: 1_000, characters: 4_000_000, atOnce: 2, text: 20_000 } as const;

export const QUERY_VIEWS = ['spans', 'traces', 'spend'] as const;
type QueryView = (typeof QUERY_VIEWS)[number];

/** A column of a view. */
export interface QueryColumn {
  readonly table: QueryView;
  readonly name: string;
  readonly type: string;
}

/** SQL over the views of traces and spend. */
export interface TraceQueries {
  /** Null where the traces are in ClickHouse. */
  readonly dialect: QueryDialect | null;
  /**
   * The rows of a query that `assertQuery` has accepted, from visible rows only, in a read-only connection. Throws
   * InvalidInput for a query that the database refuses, Unavailable above the limits, and Unsupported without a dialect.
   */
  run(visibility: Visibility, sql: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
  columns(): Promise<readonly QueryColumn[]>;
}
