import { sql, type Kysely } from 'kysely';
import type { Checkout, CheckoutStore } from '../../domain/checkout/checkout.ts';
import type { Database } from '../database/database.ts';
import { CheckoutEntity } from './entities/checkout.ts';
import { everyColumn, rowTable } from '../database/rows.ts';
import type { Tables } from '../database/tables.ts';
import { transaction } from '../database/transaction.ts';
import { checkoutOf, checkoutRowOf, type CheckoutRow } from './rows.ts';
import { findOwner, gather, keepEvent, noteSession, oneAtATime, settle } from './payment-events.ts';

/** Purchases as rows beside the events they follow from. */
export function createCheckoutStore({ orm, flavour, inFlight }: Database): CheckoutStore {
  const columns = everyColumn(rowTable(orm, 'checkout', CheckoutEntity));
  // Not the read replica: a buyer comes back within a moment of the message that says it is paid.
  const database = (): Kysely<Tables> => orm.em.fork().getKysely<Tables>();
  const inTransaction = <Result>(work: (db: Kysely<Tables>) => Promise<Result>): Promise<Result> =>
    inFlight.write(() => transaction(orm, work));

  async function findBy(db: Kysely<Tables>, column: 'id' | 'key_hash', value: string): Promise<Checkout | null> {
    const query = db.selectFrom('checkout').select(columns).where(column, '=', value).$castTo<CheckoutRow>();
    const row = await query.executeTakeFirst();
    return row ? checkoutOf(row) : null;
  }

  return {
    add: (checkout) =>
      inFlight.write(async () => {
        await database().insertInto('checkout').values(checkoutRowOf(checkout)).execute();
      }),
    find: (id) => inFlight.run(() => findBy(database(), 'id', id)),
    findByKey: (hash) => inFlight.run(() => findBy(database(), 'key_hash', hash)),
    setSession: (id, sessionId) => inFlight.write(() => noteSession(database(), id, sessionId)),
    take: (event) =>
      inTransaction(async (db) => {
        await oneAtATime(db, flavour);
        const fresh = await keepEvent(db, event);
        const owner = await findOwner(db, flavour, event);
        if (owner === null) return null;
        if (fresh) {
          if (event.sessionId !== null) await noteSession(db, owner, event.sessionId);
          await gather(db, owner, event.id);
          await settle(db, owner);
        }
        return findBy(db, 'id', owner);
      }),
    issueKey: (id, key, instead) =>
      inFlight.write(async () => {
        const issued = await database()
          .updateTable('checkout')
          .set({ key_hash: key.hash, key_name: key.name, key_issued_at: key.issuedAt.getTime() })
          .where('id', '=', id)
          .where('state', '=', 'paid')
          .where('revoked_at', 'is', null)
          .where('key_hash', instead === null ? 'is' : '=', instead)
          .returning('id')
          .execute();
        return issued.length > 0;
      }),
    revoke: (id, at) =>
      inTransaction(async (db) => {
        const row = db.updateTable('checkout').set({ revoked_at: at.getTime() });
        await row.where('id', '=', id).where('revoked_at', 'is', null).execute();
        return findBy(db, 'id', id);
      }),
    list: (after, limit) =>
      inFlight.run(async () => {
        const rows = await database()
          .selectFrom('checkout')
          .select(columns)
          .$if(after !== null, (query) =>
            query.where(
              sql<boolean>`(checkout.created_at, checkout.id) < (${after?.createdAt.getTime()}, ${after?.id})`,
            ),
          )
          .orderBy('checkout.created_at', 'desc')
          .orderBy('checkout.id', 'desc')
          .limit(limit)
          .$castTo<CheckoutRow>()
          .execute();
        return rows.map(checkoutOf);
      }),
    prune: (before) =>
      inTransaction(async (db) => {
        await oneAtATime(db, flavour);
        const old = before.getTime();
        await db.deleteFrom('checkout').where('created_at', '<', old).where('paid_at', 'is', null).execute();
        // Events of no checkout: of one that went now, or of somebody else's trade.
        await sql`
          delete from payment_event where "at" < ${old}
          and not exists (select 1 from checkout where checkout.id = payment_event.checkout_id)
        `.execute(db);
        await sql`
          delete from payment_object
          where not exists (select 1 from payment_event where payment_event.id = payment_object.event_id)
        `.execute(db);
      }),
  };
}
