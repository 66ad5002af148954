import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { Conflict } from '../../domain/errors.ts';
import { locateDatabase } from './database-url.ts';
import type { StoresOptions } from '../options.ts';

/** SQLite's result code for a lock that another connection holds. */
const SQLITE_BUSY = 5;

/**
 * Exclusive use of a SQLite file by this process. The operating system ends it with the process, also after a kill -9.
 */
export interface ProcessLock {
  /** False for PostgreSQL, and where the file could not be locked. */
  readonly isHeld: boolean;
  /** Releases the lock; calling it again does nothing. */
  release(): void;
}

const NO_LOCK: ProcessLock = { isHeld: false, release() {} };

/**
 * Locks the SQLite file that the options name. The lock belongs to the process and not to a store: migrations and
 * imports may open the file beside a running server. PostgreSQL serves several processes and is not locked. Throws
 * Conflict, which names the holder if known, when another process holds the lock. Any other failure to lock, as on a
 * file system without locks, is logged. The file then stays unlocked.
 *
 * The lock is an exclusive transaction on an empty SQLite database beside the file. A separate text file names the
 * holder: opening and closing the locked file without SQLite would release the lock.
 */
export async function lockDatabase({
  databaseUrl,
  dataDir,
  log,
}: Pick<StoresOptions, 'databaseUrl' | 'dataDir' | 'log'>): Promise<ProcessLock> {
  const location = locateDatabase(databaseUrl, dataDir);
  if (location.kind !== 'sqlite') return NO_LOCK;
  // SQLite opens the target of a symbolic link, so the lock belongs beside the target.
  const file = existsSync(location.file) ? realpathSync(location.file) : location.file;
  const holderFile = `${file}.holder`;
  // Loaded here: a process on PostgreSQL does not need it.
  const { DatabaseSync } = await import('node:sqlite');
  let lock: InstanceType<typeof DatabaseSync> | null = null;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    lock = new DatabaseSync(`${file}.lock`);
    lock.exec('pragma journal_mode = memory; begin exclusive');
  } catch (error) {
    lock?.close();
    if (isBusy(error)) throw new Conflict(refusal(holderOf(holderFile)));
    log.warn({ err: error }, 'The database could not be locked: make sure that no second process uses its file.');
    return NO_LOCK;
  }
  const acquired = lock;
  noteHolder(holderFile, log);
  return {
    isHeld: true,
    release() {
      if (!acquired.isOpen) return;
      rmSync(holderFile, { force: true });
      acquired.close();
    },
  };
}

function noteHolder(file: string, log: StoresOptions['log']): void {
  try {
    writeFileSync(file, `pid ${process.pid} on host ${hostname()}, since ${new Date().toISOString()}`);
  } catch (error) {
    log.warn({ err: error }, 'The holder of the database lock could not be written; the lock is in force.');
  }
}

const refusal = (holder: string | null): string =>
  `The database is in use by another Lensgate process${holder === null ? '' : ` (${holder})`}. ` +
  'Stop that process, or give this one a folder of its own with LENSGATE_DATA_DIR. ' +
  'Several processes can share a PostgreSQL database (DATABASE_URL).';

/** The holder from the text file; null when it cannot be read, as before a starting holder has written it. */
function holderOf(file: string): string | null {
  try {
    return readFileSync(file, 'utf8').trim() || null;
  } catch {
    return null;
  }
}

const isBusy = (error: unknown): boolean =>
  error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY;
