import { setTimeout as wait } from 'node:timers/promises';

/** A value SQLite takes as a parameter. */
export type SqliteParameter = string | number | bigint | Uint8Array | null;
export type SqliteRow = Record<string, unknown>;

/** One open SQLite connection that never blocks the event loop, whatever library is underneath. */
export interface SqliteHandle {
  /** Runs a statement that gives rows. */
  all(sql: string, parameters: readonly SqliteParameter[]): Promise<readonly SqliteRow[]>;
  /** Runs a statement that gives none; tells how many rows it changed and the last row id it made. */
  run(sql: string, parameters: readonly SqliteParameter[]): Promise<SqliteChange>;
  close(): Promise<void>;
}

export interface SqliteChange {
  readonly changes: number;
  readonly lastRowId: number;
}

export type SqliteAccess = 'readwrite' | 'readonly';
export type OpenSqlite = (file: string, access: SqliteAccess) => Promise<SqliteHandle>;

/** What a connection is for. Only the writer sets up a new file. */
export type SqliteRole = 'writer' | 'reader' | 'checkpointer';

/**
 * A commit writes whole pages, many for one row of an index each: half of 16 KiB costs ingest an eighth less of SQLite's
 * time, and bodies less slack; 4 KiB gains nothing more. Counts only while the file is empty.
 */
const PAGE_BYTES = 8_192;

/** Size of the log, in pages, at which a writer brings it into the file itself: where `checkpoints.ts` could not, or not fast enough. */
const CHECKPOINT_PAGES = 16_000;

/**
 * Pages the writer keeps in memory, in KiB: rows have random keys, so each commit touches pages all over. With
 * SQLite's own 2 MiB a commit of some hundred rows pushes pages out and reads them again.
 */
const WRITER_CACHE_KIB = 32 * 1024;

/** Take effect in a new file only. They take the write lock, so an existing file is left alone. */
const NEW_FILE_PRAGMAS = [
  `pragma page_size = ${PAGE_BYTES}`,
  // An older file reuses its free pages but does not shrink.
  'pragma auto_vacuum = incremental',
];

/**
 * WAL with synchronous NORMAL survives a killed process; a power failure can only lose the last commits, each as a
 * whole.
 */
const WRITER_PRAGMAS = [
  'pragma journal_mode = wal',
  'pragma synchronous = normal',
  `pragma wal_autocheckpoint = ${CHECKPOINT_PAGES}`,
  `pragma cache_size = -${WRITER_CACHE_KIB}`,
  'pragma temp_store = memory',
];

/**
 * A file that several processes open for the first time at once refuses the step into WAL without waiting: that
 * step wants the file alone, and the timeout covers only locks that end by themselves.
 */
async function patiently(timeoutMs: number, attempt: () => Promise<unknown>): Promise<void> {
  const endMs = performance.now() + timeoutMs;
  for (;;) {
    try {
      await attempt();
      return;
    } catch (error) {
      const busy = error instanceof Error && 'code' in error && error.code === 'SQLITE_BUSY';
      if (!busy || performance.now() > endMs) throw error;
      await wait(10 + Math.random() * 40);
    }
  }
}

/** Opens a connection and makes it ready for use; closes it again when that fails. */
export async function openReady(
  open: OpenSqlite,
  file: string,
  { role, lockTimeoutMs }: { readonly role: SqliteRole; readonly lockTimeoutMs: number },
): Promise<SqliteHandle> {
  const handle = await open(file, role === 'reader' ? 'readonly' : 'readwrite');
  const run = (pragma: string): Promise<unknown> => patiently(lockTimeoutMs, () => handle.all(pragma, []));
  try {
    await run(`pragma busy_timeout = ${lockTimeoutMs}`);
    await run('pragma foreign_keys = on');
    if (role === 'checkpointer') await run('pragma synchronous = normal');
    if (role === 'writer') {
      const [size] = await handle.all('pragma page_count', []);
      const isNew = size?.['page_count'] === 0;
      for (const pragma of [...(isNew ? NEW_FILE_PRAGMAS : []), ...WRITER_PRAGMAS]) await run(pragma);
    }
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}
