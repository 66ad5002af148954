import { Kysely, sql } from 'kysely';
import { expect, test } from 'vitest';
import { sqliteDialect } from '../../../src/persistence/database/dialect.ts';
import type { SqliteHandle } from '../../../src/persistence/sqlite/handle.ts';

const BUSY = Object.assign(new Error('SQLITE_BUSY: database is locked'), { code: 'SQLITE_BUSY' });
const DUPLICATE = Object.assign(new Error('UNIQUE constraint failed'), { code: 'SQLITE_CONSTRAINT' });

/**
 * A database whose connections record their statements except pragmas, and fail with the error that `faultOf`
 * returns.
 */
function aDatabase(faultOf: (sql: string, connection: number) => Error | null) {
  const statements: string[][] = [];
  const closed: number[] = [];
  function open(): Promise<SqliteHandle> {
    const connection = statements.push([]) - 1;
    const run = async (text: string): Promise<void> => {
      if (!text.startsWith('pragma')) statements[connection]?.push(text);
      const fault = faultOf(text, connection);
      if (fault !== null) throw fault;
    };
    return Promise.resolve({
      all: (text) => run(text).then(() => []),
      run: (text) => run(text).then(() => ({ changes: 0, lastRowId: 0 })),
      script: run,
      close: async () => void closed.push(connection),
    });
  }
  const failed = (error: unknown): void => {
    throw error;
  };
  const db = new Kysely<never>({
    dialect: sqliteDialect({ open, file: 'some.db', role: 'writer', lockTimeoutMs: 5, failed }),
  });
  return { db, statements, closed };
}

const insert = (db: Kysely<never>) => sql`insert into note values (1)`.execute(db);
/**
 * `rollback` ends any open transaction. `begin` fails if one is still open, and `commit` while a statement that writes
 * is active.
 */
const CHECK = ['rollback', 'begin', 'commit'];

test('a connection whose statement failed is checked before the next use', async () => {
  let isBusy = true;
  const { db, statements, closed } = aDatabase((text) => (isBusy && text.startsWith('insert') ? BUSY : null));
  await expect(insert(db)).rejects.toBe(BUSY);
  isBusy = false;
  await insert(db);
  expect([statements, closed]).toEqual([
    [['insert into note values (1)', ...CHECK, 'insert into note values (1)']],
    [],
  ]);
});

test('a connection is not checked after a violated constraint', async () => {
  const { db, statements } = aDatabase((text) => (text.startsWith('insert') ? DUPLICATE : null));
  await expect(insert(db)).rejects.toBe(DUPLICATE);
  expect(statements).toEqual([['insert into note values (1)']]);
});

test('a connection that fails its check is replaced', async () => {
  const lost = new Error('The SQLite worker has ended.');
  const { db, statements, closed } = aDatabase((text, connection) =>
    connection === 0 && !text.startsWith('pragma') ? lost : null,
  );
  await expect(insert(db)).rejects.toBe(lost);
  await insert(db);
  expect([statements[1], closed]).toEqual([['insert into note values (1)'], [0]]);
});

test('a controlled transaction that cannot begin releases the connection', async () => {
  let isBusy = true;
  const { db, statements } = aDatabase((text) => (isBusy && text === 'begin immediate' ? BUSY : null));
  await expect(db.startTransaction().execute()).rejects.toBe(BUSY);
  isBusy = false;
  await db.transaction().execute((within) => insert(within as Kysely<never>));
  expect(statements).toEqual([
    ['begin immediate', ...CHECK, 'begin immediate', 'insert into note values (1)', 'commit'],
  ]);
});
