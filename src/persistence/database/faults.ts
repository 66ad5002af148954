import { setTimeout } from 'node:timers/promises';
import { DomainError, InvalidInput, Unavailable } from '../../domain/errors.ts';

/** Connection-level failures as Node and the `sqlite3` package name them. */
const CONNECTION_CODES = new Set([
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
 * SQLSTATE classes and codes: connection (08), read-only transaction (25006), transaction rollback (40), resources
 * (53), lock not available (55P03), shutdown (57P), I/O (58). A standby sends 25006; a deadlock is in class 40.
 */
const CONNECTION_SQLSTATE = /^(?:08|25006|40|53|55P03|57P|58)/;
/** Failures without a code. */
const CONNECTION_MESSAGE =
  /database is locked|database or disk is full|Connection terminated|is not queryable|timeout exceeded when trying to connect/;

/** Whether the database could not be reached or used, as opposed to having refused the statement. */
function isConnectionFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (CONNECTION_MESSAGE.test(error.message)) return true;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return (
    CONNECTION_CODES.has(code) ||
    (code.length === 5 && CONNECTION_SQLSTATE.test(code)) ||
    isConnectionFailure(error.cause)
  );
}

/** PostgreSQL ended the connection: an administrator, a restart or a crash. */
const LOST_SQLSTATE = /^(?:08|57P0)/;
/** Failures of a lost connection that have no code. The second is of a query after the failure of its connection. */
const LOST_MESSAGE = /^(?:Connection terminated|Client has encountered a connection error and is not queryable$)/;

/** Whether a connection that was open is lost. Another connection may work immediately. */
function isLostConnection(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return (
    code === 'ECONNRESET' ||
    code === 'EPIPE' ||
    LOST_SQLSTATE.test(code) ||
    LOST_MESSAGE.test(error.message) ||
    isLostConnection(error.cause)
  );
}

/**
 * Waits before the retries of a read, in ms. The pool removes a lost connection when the server has closed it. A busy
 * server closes it some time after the error: the first retry may then get the same connection, and fails at the close.
 */
const RETRY_DELAYS_MS = [25, 100];

/** Runs a read, and retries it twice while its connection is lost. */
export async function retryLostRead<Result>(read: () => Promise<Result>): Promise<Result> {
  for (const delayMs of RETRY_DELAYS_MS)
    try {
      return await read();
    } catch (error) {
      if (!isLostConnection(error)) throw error;
      await setTimeout(delayMs);
    }
  return read();
}

/** Whether a PostgreSQL statement ran into the lock timeout. */
export function isLockTimeout(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && error.code === '55P03') || isLockTimeout(error.cause);
}

/** Whether the database refused a row because a row with the same unique value is stored. */
export function isDuplicate(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (/UNIQUE constraint failed/.test(error.message)) return true;
  return ('code' in error && error.code === '23505') || isDuplicate(error.cause);
}

/** Whether PostgreSQL refused a text of more than about 2,600 bytes for an index. */
function isTooLongForIndex(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && error.code === '54000') || isTooLongForIndex(error.cause);
}

/**
 * Runs work against the database. A connection failure becomes Unavailable. A text that is too long for an index
 * becomes InvalidInput. Other errors are not changed.
 */
export async function withDomainErrors<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof DomainError) throw error;
    if (isTooLongForIndex(error))
      throw new InvalidInput(
        'An id, a name or an alias is too long: the database stores at most about 2,600 bytes.',
        [],
        {
          cause: error,
        },
      );
    if (!isConnectionFailure(error)) throw error;
    throw new Unavailable('The database cannot be used at the moment.', undefined, { cause: error });
  }
}
