import { DomainError, Unavailable } from '../../domain/errors.ts';

/** Connection-level failures as Node and the `sqlite3` package name them. */
const AWAY = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPIPE',
  'ETIMEDOUT',
  'SQLITE_BUSY',
  'SQLITE_CANTOPEN',
  'SQLITE_FULL',
  'SQLITE_IOERR',
  'SQLITE_LOCKED',
  'SQLITE_READONLY',
]);
/**
 * SQLSTATE classes: connection, read-only transaction (a standby), transaction rollback (deadlock), resources, lock not
 * available, shutdown, I/O.
 */
const AWAY_SQLSTATE = /^(?:08|25006|40|53|55P03|57P|58)/;
/** Failures that come without a code of their own. */
const AWAY_MESSAGE =
  /database is locked|database or disk is full|Connection terminated|is not queryable|timeout exceeded when trying to connect/;

/** Whether the database could not be reached or used now, as opposed to having refused what was sent. */
function isAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (AWAY_MESSAGE.test(error.message)) return true;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return AWAY.has(code) || (code.length === 5 && AWAY_SQLSTATE.test(code)) || isAway(error.cause);
}

/** Whether a statement of PostgreSQL gave up waiting for a lock. */
export function isLockTimeout(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && error.code === '55P03') || isLockTimeout(error.cause);
}

/** Whether the database refused a row because one with its key is stored. */
export function isDuplicate(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (/UNIQUE constraint failed/.test(error.message)) return true;
  return ('code' in error && error.code === '23505') || isDuplicate(error.cause);
}

/** Runs work against the database; a database that is away becomes Unavailable, all else stays as it is. */
export async function reaching<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof DomainError || !isAway(error)) throw error;
    throw new Unavailable('The database cannot be used at the moment.', undefined, { cause: error });
  }
}
