import type { SqlEntityManager } from '@mikro-orm/sql';
import type { Kysely } from 'kysely';
import type { Orm } from './database.ts';
import type { Tables } from './tables.ts';

/**
 * Runs work in a new transaction. It does not use the ORM's `transactional`. On PostgreSQL, `transactional` never
 * returns the connection to the pool when `begin` or `rollback` fails, as after a lost connection.
 */
export function transaction<Result>(orm: Orm, work: (db: Kysely<Tables>) => Promise<Result>): Promise<Result> {
  return orm.em.fork().getKysely<Tables>().transaction().execute(work);
}

/**
 * Runs work on entities in a new transaction, then flushes its changes in that transaction. Without
 * `setTransactionContext`, a `flush` would open the ORM's own transaction. `em.getKysely()` is the query builder of the
 * same transaction.
 */
export function entityTransaction<Result>(
  orm: Orm,
  work: (em: SqlEntityManager) => Result | Promise<Result>,
): Promise<Result> {
  return transaction(orm, async (db) => {
    const em = orm.em.fork();
    em.setTransactionContext(db);
    const result = await work(em);
    await em.flush();
    return result;
  });
}

/** As `entityTransaction`, with one step of work for each item. Each step is flushed before the next one. */
export function steppedTransaction<Item>(
  orm: Orm,
  items: readonly Item[],
  step: (em: SqlEntityManager, item: Item) => void,
): Promise<void> {
  return transaction(orm, async (db) => {
    const em = orm.em.fork();
    em.setTransactionContext(db);
    for (const item of items) {
      step(em, item);
      await em.flush();
    }
  });
}
