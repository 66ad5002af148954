import type { SqliteParameter } from './handle.ts';

/** Capacity of the statement cache of one connection. */
const MOST_KEPT = 64;

/**
 * Maximum total length of the parameters of a cached statement, in characters and bytes. A cached statement holds the
 * parameters of its most recent run in memory.
 */
const MOST_LENGTH = 524_288;

/** Statements without parameters that repeat word for word. Other such statements may have values in their text. */
const WITHOUT_PARAMETERS: ReadonlySet<string> = new Set(['begin immediate', 'commit']);

/** Prefix that marks any other statement without parameters that repeats word for word. */
export const REPEATED = '/* repeated */ ';

/** LRU cache of the prepared statements of one connection. */
export interface StatementCache<Statement> {
  /** The statement of this text, which becomes the most recently used; undefined when none is cached. */
  find(sql: string): Statement | undefined;
  /** Adds a statement. Beyond the capacity, the least recently used statement is evicted. */
  add(sql: string, statement: Statement): void;
  /** Removes a statement without calling `drop`: the caller releases it. */
  remove(sql: string): void;
  /** Removes all statements and calls `drop` with each. */
  clear(): void;
}

/** `drop` releases what a statement holds. */
export function createStatementCache<Statement>(drop: (statement: Statement) => void): StatementCache<Statement> {
  /** Least recently used first. */
  const statements = new Map<string, Statement>();
  function take(sql: string): Statement | undefined {
    const statement = statements.get(sql);
    statements.delete(sql);
    return statement;
  }
  function evict(sql: string | undefined): void {
    const statement = sql === undefined ? undefined : take(sql);
    if (statement !== undefined) drop(statement);
  }
  return {
    find(sql) {
      const statement = take(sql);
      if (statement !== undefined) statements.set(sql, statement);
      return statement;
    },
    add(sql, statement) {
      evict(sql);
      if (statements.size === MOST_KEPT) evict(statements.keys().next().value);
      statements.set(sql, statement);
    },
    remove(sql) {
      statements.delete(sql);
    },
    clear() {
      for (const sql of statements.keys()) evict(sql);
    },
  };
}

/** Whether a statement may be cached: its text repeats, and its parameters are small. */
export function isCacheable(sql: string, parameters: readonly SqliteParameter[]): boolean {
  if (parameters.length === 0) return WITHOUT_PARAMETERS.has(sql) || sql.startsWith(REPEATED);
  return parameters.reduce<number>((total, parameter) => total + lengthOf(parameter), 0) <= MOST_LENGTH;
}

const lengthOf = (parameter: SqliteParameter): number =>
  typeof parameter === 'string' || parameter instanceof Uint8Array ? parameter.length : 0;
