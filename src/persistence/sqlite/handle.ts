import { setTimeout as wait } from 'node:timers/promises';

/** Type of a statement parameter. */
export type SqliteParameter = string | number | bigint | Uint8Array | null;
export type SqliteRow = Record<string, unknown>;

/** One open SQLite connection that never blocks the event loop. */
export interface SqliteHandle {
  /** Runs a statement that returns rows. */
  all(sql: string, parameters: readonly SqliteParameter[]): Promise<readonly SqliteRow[]>;
  /** Runs a statement without rows; resolves to the number of changed rows and the last inserted row id. */
  run(sql: string, parameters: readonly SqliteParameter[]): Promise<SqliteChange>;
  /** Runs several statements without parameters and rows. */
  script(sql: string): Promise<void>;
  close(): Promise<void>;
}

export interface SqliteChange {
  readonly changes: number;
  readonly lastRowId: number;
}

export type SqliteAccess = 'readwrite' | 'readonly';
export type OpenSqlite = (file: string, access: SqliteAccess) => Promise<SqliteHandle>;

/** Purpose of a connection. Only the writer sets up a new file. */
export type SqliteRole = 'writer' | 'reader' | 'checkpointer';

/**
 * Page size of a new file. A commit writes whole pages, many of them for a single index row. With 8 KiB, ingest takes
 * an eighth less of SQLite's time than with 16 KiB, and bodies waste less space; 4 KiB is not faster.
 */
const PAGE_BYTES = 8_192;

/** Pages of the write-ahead log at which the writer itself checkpoints, when `checkpoints.ts` failed or is too slow. */
const CHECKPOINT_PAGES = 16_000;

/**
 * Page cache of the writer, in KiB. Rows have random keys, so each commit touches many pages. With SQLite's default of
 * 2 MiB a commit of some hundred rows evicts pages and reads them again.
 */
const WRITER_CACHE_KIB = 32 * 1024;

/** Apply to a new file only. They take the write lock, so they are not run on an existing file. */
const NEW_FILE_PRAGMAS = [
  `pragma page_size = ${PAGE_BYTES}`,
  // An older file reuses its free pages but does not shrink.
  'pragma auto_vacuum = incremental',
];

/**
 * WAL with synchronous NORMAL survives a killed process; a power failure can lose only the last commits, each
 * completely.
 */
const WRITER_PRAGMAS = [
  'pragma journal_mode = wal',
  'pragma synchronous = normal',
  `pragma wal_autocheckpoint = ${CHECKPOINT_PAGES}`,
  `pragma cache_size = -${WRITER_CACHE_KIB}`,
  'pragma temp_store = memory',
];

/** Wait before a retry, in ms: at least the minimum, plus a random part of the spread. */
const RETRY_MIN_MS = 10;
const RETRY_SPREAD_MS = 40;

/**
 * Retries while the file is busy, for at most `timeoutMs`. The switch to WAL needs the file exclusively. When several
 * processes open a new file concurrently, the switch fails immediately: the lock timeout does not apply to it.
 */
async function retryWhileBusy(timeoutMs: number, attempt: () => Promise<unknown>): Promise<void> {
  const endMs = performance.now() + timeoutMs;
  for (;;) {
    try {
      await attempt();
      return;
    } catch (error) {
      const isBusy = error instanceof Error && 'code' in error && error.code === 'SQLITE_BUSY';
      if (!isBusy || performance.now() > endMs) throw error;
      await wait(RETRY_MIN_MS + Math.random() * RETRY_SPREAD_MS);
    }
  }
}

/** How a connection is set up. */
export interface SqliteSetup {
  readonly role: SqliteRole;
  /** How long a statement waits for a lock of another connection, in ms. */
  readonly lockTimeoutMs: number;
  /** Returns the statements that create the tables of a new file; absent: the file stays empty. */
  readonly newSchema?: (() => string) | undefined;
}

/**
 * Creates all tables or none. Ignores a failure: another process may have created the tables meanwhile. The migrations
 * then create what is missing, and report a failure that persists.
 */
async function createTables(handle: SqliteHandle, statements: string): Promise<void> {
  await handle
    .script(`begin immediate;\n${statements}\ncommit;`)
    .catch(() => handle.run('rollback', []))
    .catch(() => {});
}

/**
 * Opens a connection and sets its pragmas; closes it again when that fails. The writer creates the tables of a new
 * file.
 */
export async function openReady(
  open: OpenSqlite,
  file: string,
  { role, lockTimeoutMs, newSchema }: SqliteSetup,
): Promise<SqliteHandle> {
  const handle = await open(file, role === 'reader' ? 'readonly' : 'readwrite');
  const run = (pragma: string): Promise<unknown> => retryWhileBusy(lockTimeoutMs, () => handle.all(pragma, []));
  try {
    await run(`pragma busy_timeout = ${lockTimeoutMs}`);
    await run('pragma foreign_keys = on');
    if (role === 'checkpointer') await run('pragma synchronous = normal');
    if (role === 'writer') {
      const [size] = await handle.all('pragma page_count', []);
      const isNew = size?.['page_count'] === 0;
      for (const pragma of [...(isNew ? NEW_FILE_PRAGMAS : []), ...WRITER_PRAGMAS]) await run(pragma);
      if (isNew && newSchema !== undefined) await createTables(handle, newSchema());
    }
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}
