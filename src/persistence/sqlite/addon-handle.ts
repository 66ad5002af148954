import type { Database, RunResult, Statement } from 'sqlite3';
import type { OpenSqlite, SqliteHandle, SqliteParameter, SqliteRow } from './handle.ts';
import { createStatementCache, isCacheable } from './statement-cache.ts';

/** The addon cannot bind a bigint. As text, every digit is kept. */
function bindable(parameter: SqliteParameter): string | number | Uint8Array | null {
  return typeof parameter === 'bigint' ? parameter.toString() : parameter;
}

/** Starts a statement; `done` receives its failure or its result. */
type Start<Result> = (
  statement: Statement,
  parameters: readonly unknown[],
  done: (error: Error | null, result: Result) => void,
) => void;

const startAll: Start<SqliteRow[]> = (statement, parameters, done) => statement.all(parameters, done);

const startRun: Start<{ readonly changes: number; readonly lastRowId: number }> = (statement, parameters, done) =>
  statement.run(parameters, function ran(this: RunResult, error: Error | null) {
    done(error, { changes: this.changes, lastRowId: this.lastID });
  });

/**
 * The addon does not reset a statement that fails. After SQLITE_BUSY such a statement stays active. While it is active,
 * SQLite does not commit statements outside a transaction. Their changes are visible to this connection only, and the
 * next rollback removes them. A failed statement is therefore finalized before its failure is reported (ADR 0053).
 */
function handleOver(database: Database): SqliteHandle {
  const statements = createStatementCache<Statement>((statement) => statement.finalize());
  const prepare = (sql: string): Promise<Statement> =>
    new Promise((resolve, reject) => {
      const statement = database.prepare(sql, (error: Error | null) => (error ? reject(error) : resolve(statement)));
    });

  /** Runs a cached statement. To prepare it is a round trip to another thread, and slower than to run a small one. */
  async function repeat<Result>(start: Start<Result>, sql: string, parameters: readonly unknown[]): Promise<Result> {
    const known = statements.find(sql);
    const statement = known ?? (await prepare(sql));
    if (known === undefined) statements.add(sql, statement);
    return new Promise((resolve, reject) => {
      start(statement, parameters, (error, result) => {
        if (error === null) return resolve(result);
        statements.remove(sql);
        statement.finalize(() => reject(error));
      });
    });
  }

  /** Prepares, runs and finalizes a statement in one round trip. */
  const once = <Result>(start: Start<Result>, sql: string, parameters: readonly unknown[]): Promise<Result> =>
    new Promise((resolve, reject) => {
      // After a failure to prepare, the addon drops the queued calls of the statement.
      const statement = database.prepare(sql, (error: Error | null) => {
        if (error) reject(error);
      });
      let settle = (): void => {};
      start(statement, parameters, (error, result) => {
        settle = () => (error === null ? resolve(result) : reject(error));
      });
      statement.finalize(() => settle());
    });

  function perform<Result>(start: Start<Result>, sql: string, parameters: readonly SqliteParameter[]): Promise<Result> {
    const bound = parameters.map(bindable);
    return isCacheable(sql, parameters) ? repeat(start, sql, bound) : once(start, sql, bound);
  }

  return {
    all: (sql, parameters) => perform(startAll, sql, parameters),
    run: (sql, parameters) => perform(startRun, sql, parameters),
    script: (sql) =>
      new Promise((resolve, reject) => {
        database.exec(sql, (error) => (error === null ? resolve() : reject(error)));
      }),
    close: () =>
      new Promise((resolve, reject) => {
        statements.clear();
        database.close((error) => (error ? reject(error) : resolve()));
      }),
  };
}

/**
 * Connections over the `sqlite3` package, whose statements run on libuv's thread pool. It is an optional dependency:
 * rejects when it is not installed. It returns INTEGER columns as doubles, so values above 2^53 must be read as text.
 */
export async function loadAddon(): Promise<OpenSqlite> {
  const { default: sqlite3 } = await import('sqlite3');
  const modes = {
    readwrite: sqlite3.OPEN_READWRITE | sqlite3.OPEN_CREATE | sqlite3.OPEN_FULLMUTEX,
    readonly: sqlite3.OPEN_READONLY | sqlite3.OPEN_FULLMUTEX,
  };
  return (file, access) =>
    new Promise((resolve, reject) => {
      const database: Database = new sqlite3.Database(file, modes[access], (error) =>
        error ? reject(error) : resolve(handleOver(database)),
      );
    });
}
