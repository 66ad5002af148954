import { sql } from 'kysely';
import { Unavailable } from '../../domain/errors.ts';
import type { Database } from './database.ts';
import { withDomainErrors } from './faults.ts';
import { transaction } from './transaction.ts';

/** Runs work one after another. */
export type Serializer = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** Numbers of the advisory locks, by the name of the work that only one process at a time does. */
const LOCKS = { 'trace bodies': 7_214_001 } as const;

/** Maximum wait for earlier work of this process, and for another process, in ms. */
const MAX_WAIT_MS = 60_000;

/**
 * Runs the work of this process one after another. Throws Unavailable when earlier work takes a minute. The late work
 * is then never run.
 */
export function createSerializer(): Serializer {
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
 * Runs the work of all processes over a database one after another. On PostgreSQL a transaction holds an advisory lock,
 * which ends with the process. A SQLite file belongs to one process (`process-lock.ts`). Throws Unavailable when
 * earlier work of this process takes a minute, or another process holds the lock for a minute.
 */
export function createExclusiveWork(
  { orm, flavour }: Pick<Database, 'orm' | 'flavour'>,
  name: keyof typeof LOCKS,
): Serializer {
  const inTurn = createSerializer();
  if (flavour === 'sqlite') return inTurn;
  return (work) =>
    inTurn(() =>
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
