import { UniqueConstraintViolationException } from '@mikro-orm/core';
import type { Kysely } from 'kysely';
import type { Access, Orm } from './database.ts';
import type { InFlight } from './in-flight.ts';
import type { Tables } from './tables.ts';
import { entityTransaction, transaction } from './transaction.ts';

export function accessTo(orm: Orm, inFlight: InFlight): Access {
  const reader = (): Kysely<Tables> => orm.em.getConnection('read').getClient<Tables>();
  const writer = (): Kysely<Tables> => orm.em.getConnection('write').getClient<Tables>();
  return {
    reader,
    writer,
    readRows: (work) => inFlight.run(() => work(reader())),
    writeRows: (work) => inFlight.write(() => work(writer())),
    transact: (work) => inFlight.write(() => transaction(orm, work)),
    find: (work) => inFlight.run(() => work(orm.em.fork())),
    change: (work) => inFlight.write(() => entityTransaction(orm, work)),
    addIfNew: (add) =>
      inFlight.write(async () => {
        try {
          await entityTransaction(orm, add);
          return true;
        } catch (error) {
          if (error instanceof UniqueConstraintViolationException) return false;
          throw error;
        }
      }),
  };
}
