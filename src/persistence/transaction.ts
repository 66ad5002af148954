import type { Kysely } from 'kysely';
import type { Orm } from './database.ts';
import type { Tables } from './tables.ts';

/**
 * Runs work in a transaction of its own. Not the ORM's `transactional`: that keeps the connection for ever when its
 * `begin` or `rollback` fails, as on a full disk or a lost server, and whatever wants it next waits as long.
 */
export function transaction<Result>(orm: Orm, work: (db: Kysely<Tables>) => Promise<Result>): Promise<Result> {
  return orm.em.fork().getKysely<Tables>().transaction().execute(work);
}
