import type { SqliteParameter } from './handle.ts';

/** Most statements that a connection keeps prepared. */
const MOST_KEPT = 64;

/** What a statement was given last stays with it until the next time: for so many bytes that is not worth it. */
const MOST_BYTES = 524_288;

/** Of those without parameters only these come again as they are: others may have values in their text. */
const WITHOUT_PARAMETERS: ReadonlySet<string> = new Set(['begin immediate', 'commit']);

/** Statements of one connection, each prepared once. */
export interface KeptStatements<Statement> {
  /** The statement of this text, used last from now on; undefined where none is kept. */
  find(sql: string): Statement | undefined;
  /** Keeps one more, and drops the one that was not used for longest. */
  keep(sql: string, statement: Statement): void;
  /** Drops all of them. */
  clear(): void;
}

/** `drop` gives up what a statement holds. */
export function createKeptStatements<Statement>(drop: (statement: Statement) => void): KeptStatements<Statement> {
  /** In the order of their use. */
  const kept = new Map<string, Statement>();
  function take(sql: string): Statement | undefined {
    const statement = kept.get(sql);
    kept.delete(sql);
    return statement;
  }
  function dropped(sql: string | undefined): void {
    const statement = sql === undefined ? undefined : take(sql);
    if (statement !== undefined) drop(statement);
  }
  return {
    find(sql) {
      const statement = take(sql);
      if (statement !== undefined) kept.set(sql, statement);
      return statement;
    },
    keep(sql, statement) {
      dropped(sql);
      if (kept.size === MOST_KEPT) dropped(kept.keys().next().value);
      kept.set(sql, statement);
    },
    clear() {
      for (const sql of kept.keys()) dropped(sql);
    },
  };
}

/** Whether a statement is to be kept for the next time. */
export function isWorthKeeping(sql: string, parameters: readonly SqliteParameter[]): boolean {
  if (parameters.length === 0) return WITHOUT_PARAMETERS.has(sql);
  return parameters.reduce<number>((total, parameter) => total + lengthOf(parameter), 0) <= MOST_BYTES;
}

const lengthOf = (parameter: SqliteParameter): number =>
  typeof parameter === 'string' || parameter instanceof Uint8Array ? parameter.length : 0;
