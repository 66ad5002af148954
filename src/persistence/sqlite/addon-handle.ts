import type { Database, RunResult, Statement } from 'sqlite3';
import type { OpenSqlite, SqliteHandle, SqliteParameter, SqliteRow } from './handle.ts';
import { createKeptStatements, isWorthKeeping } from './kept-statements.ts';

/** Beyond 32 bits the addon binds a number as a double and a bigint not at all; as text it keeps every digit. */
function bindable(parameter: SqliteParameter): string | number | Uint8Array | null {
  return typeof parameter === 'bigint' ? parameter.toString() : parameter;
}

function handleOver(database: Database): SqliteHandle {
  const kept = createKeptStatements<Statement>((statement) => statement.finalize());
  const prepare = (sql: string): Promise<Statement> =>
    new Promise((resolve, reject) => {
      const statement = database.prepare(sql, (error: Error | null) => (error ? reject(error) : resolve(statement)));
    });
  /** To prepare a statement is a way to another thread and back of its own, and costs more than to run a small one. */
  async function statementOf(sql: string, parameters: readonly SqliteParameter[]): Promise<Statement | null> {
    if (!isWorthKeeping(sql, parameters)) return null;
    const known = kept.find(sql);
    if (known !== undefined) return known;
    const statement = await prepare(sql);
    kept.keep(sql, statement);
    return statement;
  }
  return {
    async all(sql, parameters) {
      const bound = parameters.map(bindable);
      const statement = await statementOf(sql, parameters);
      return new Promise((resolve, reject) => {
        const done = (error: Error | null, rows: SqliteRow[]): void => (error ? reject(error) : resolve(rows));
        if (statement === null) database.all(sql, bound, done);
        else statement.all(bound, done);
      });
    },
    async run(sql, parameters) {
      const bound = parameters.map(bindable);
      const statement = await statementOf(sql, parameters);
      return new Promise((resolve, reject) => {
        function done(this: RunResult, error: Error | null): void {
          if (error) reject(error);
          else resolve({ changes: this.changes, lastRowId: this.lastID });
        }
        if (statement === null) database.run(sql, bound, done);
        else statement.run(bound, done);
      });
    },
    close: () =>
      new Promise((resolve, reject) => {
        kept.clear();
        database.close((error) => (error ? reject(error) : resolve()));
      }),
  };
}

/**
 * Connections over the `sqlite3` package, whose statements run on libuv's thread pool. It is an optional
 * dependency: rejects when it is not installed. It returns INTEGER columns as doubles, so whatever may
 * pass 2^53 must be read as text.
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
