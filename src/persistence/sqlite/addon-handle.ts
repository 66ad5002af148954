import type { Database } from 'sqlite3';
import type { OpenSqlite, SqliteHandle, SqliteParameter, SqliteRow } from './handle.ts';

/** Beyond 32 bits the addon binds a number as a double and a bigint not at all; as text it keeps every digit. */
function bindable(parameter: SqliteParameter): string | number | Uint8Array | null {
  return typeof parameter === 'bigint' ? parameter.toString() : parameter;
}

function handleOver(database: Database): SqliteHandle {
  return {
    all: (sql, parameters) =>
      new Promise((resolve, reject) => {
        database.all<SqliteRow>(sql, parameters.map(bindable), (error, rows) =>
          error ? reject(error) : resolve(rows),
        );
      }),
    run: (sql, parameters) =>
      new Promise((resolve, reject) => {
        database.run(sql, parameters.map(bindable), function done(error) {
          if (error) reject(error);
          else resolve({ changes: this.changes, lastRowId: this.lastID });
        });
      }),
    close: () =>
      new Promise((resolve, reject) => {
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
