import {
  CompiledQuery,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
} from 'kysely';
import { type Checkpoints, createCheckpoints } from './sqlite/checkpoints.ts';
import {
  openReady,
  type OpenSqlite,
  type SqliteAccess,
  type SqliteHandle,
  type SqliteParameter,
} from './sqlite/handle.ts';

const GIVES_ROWS = /^\s*(?:select|pragma|explain|with|values)\b/i;
const RETURNING = /\breturning\b/i;
const TEXT_LITERALS = /'(?:[^']|'')*'/g;

/** MikroORM writes values into the SQL text, so the word `returning` may just be part of a value. */
function givesRows({ query, sql }: CompiledQuery): boolean {
  if (query.kind === 'SelectQueryNode' || GIVES_ROWS.test(sql)) return true;
  if (query.kind !== 'RawNode') return 'returning' in query && query.returning !== undefined;
  return RETURNING.test(sql) && RETURNING.test(sql.replaceAll(TEXT_LITERALS, ''));
}

function parameterOf(value: unknown): SqliteParameter {
  if (value === null || value === undefined) return null;
  if (typeof value === 'boolean') return Number(value);
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint') return value;
  if (value instanceof Uint8Array) return value;
  throw new TypeError('SQLite takes text, numbers, bytes and null as parameters.');
}

function connectionOver(handle: SqliteHandle): DatabaseConnection {
  return {
    async executeQuery<Row>(compiled: CompiledQuery): Promise<QueryResult<Row>> {
      const parameters = compiled.parameters.map(parameterOf);
      if (givesRows(compiled)) return { rows: [...(await handle.all(compiled.sql, parameters))] as Row[] };
      const { changes, lastRowId } = await handle.run(compiled.sql, parameters);
      return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastRowId) };
    },
    streamQuery() {
      throw new Error('This dialect does not stream: stores read bounded pages.');
    },
  };
}

/** One connection; Kysely's own mutex hands it to one user at a time, since the adapter says there is only one. */
function driverOver({ open, file, access, failed }: SqliteDatabase): Driver {
  let handle: SqliteHandle | null = null;
  let checkpoints: Checkpoints | null = null;
  let connection: DatabaseConnection | null = null;
  const command = async (on: DatabaseConnection, sql: string): Promise<void> => {
    await on.executeQuery(CompiledQuery.raw(sql));
  };
  return {
    async init() {
      handle = await openReady(open, file, access);
      connection = connectionOver(handle);
      if (access === 'readwrite')
        checkpoints = createCheckpoints(handle, { openSide: () => openReady(open, file, access), failed });
    },
    async acquireConnection() {
      if (connection === null) throw new Error('The SQLite driver is not open.');
      await checkpoints?.beforeUse();
      return connection;
    },
    // Taking the write lock at once: a transaction that reads first and writes later would fail when another
    // process wrote in between, and no waiting could help it.
    async beginTransaction(on) {
      await command(on, access === 'readonly' ? 'begin' : 'begin immediate');
    },
    commitTransaction: (on) => command(on, 'commit'),
    // A full disk or a broken file makes SQLite roll back by itself; then there is nothing left to roll back, and
    // saying so would hide why.
    rollbackTransaction: (on) => command(on, 'rollback').catch(() => {}),
    savepoint: (on, name) => command(on, `savepoint "${name}"`),
    rollbackToSavepoint: (on, name) => command(on, `rollback to "${name}"`),
    releaseSavepoint: (on, name) => command(on, `release "${name}"`),
    // Whoever had it may have committed, by a statement alone as well.
    async releaseConnection() {
      checkpoints?.used();
    },
    async destroy() {
      await checkpoints?.close();
      await handle?.close();
      checkpoints = null;
      handle = null;
      connection = null;
    },
  };
}

/** A database file, and how it is opened. */
interface SqliteDatabase {
  readonly open: OpenSqlite;
  readonly file: string;
  readonly access: SqliteAccess;
  /** Hears of a log that could not be brought into the file; nothing is lost with it. */
  readonly failed: (error: unknown) => void;
}

/** Kysely's SQLite dialect over any library that can be put behind `SqliteHandle`. */
export function sqliteDialect(database: SqliteDatabase): Dialect {
  return {
    createDriver: () => driverOver(database),
    createAdapter: () => new SqliteAdapter(),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  };
}
