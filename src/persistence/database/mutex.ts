import { sql } from 'kysely';
import { Unavailable } from '../../domain/errors.ts';
import type { Database } from './database.ts';
import { withDomainErrors } from './faults.ts';
import { transaction } from './transaction.ts';

/** Runs the work of all callers one after another, in the order of the calls. */
export type Mutex = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** Numbers of the advisory locks, by what a lock protects. */
const LOCKS = {
  'trace bodies': 7_214_001,
  'auto routers': 7_214_002,
  'MCP servers': 7_214_003,
  memories: 7_214_004,
} as const;

/** Maximum wait for earlier work of this process, and again for work of other processes, in ms. */
const MAX_WAIT_MS = 60_000;

/** A mutex within this process. It throws Unavailable for work that waits for a minute. Such work never runs. */
export function createMutex(): Mutex {
  let last: Promise<void> = Promise.resolve();
  return <Result>(work: () => Promise<Result>): Promise<Result> => {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      reject(new Unavailable('Earlier changes of the same data take too long.'));
    }, MAX_WAIT_MS);
    last = last.then(async () => {
      if (isLate) return;
      clearTimeout(timer);
      try {
        resolve(await work());
      } catch (error) {
        reject(error);
      }
    });
    return promise;
  };
}

/**
 * A mutex for all processes that share a database. On PostgreSQL a transaction holds an advisory lock, which ends with
 * the process. A SQLite file belongs to one process (`process-lock.ts`). The mutex throws Unavailable for work that
 * waits a minute for this process, or then a minute for another process.
 */
export function createDatabaseMutex(
  { orm, flavour }: Pick<Database, 'orm' | 'flavour'>,
  name: keyof typeof LOCKS,
): Mutex {
  const mutex = createMutex();
  if (flavour === 'sqlite') return mutex;
  return (work) =>
    mutex(() =>
      withDomainErrors(() =>
        transaction(orm, async (db) => {
          await sql`set local lock_timeout = ${sql.lit(MAX_WAIT_MS)}`.execute(db);
          // The transaction is idle while the work runs, for longer than the server may allow.
          await sql`set local idle_in_transaction_session_timeout = 0`.execute(db);
          await sql`select pg_advisory_xact_lock(${sql.lit(LOCKS[name])})`.execute(db);
          return work();
        }),
      ),
    );
}
