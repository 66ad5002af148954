import type { FilterQuery } from '@mikro-orm/core';
import type { SqlEntityManager } from '@mikro-orm/sql';
import type { Checkout, CheckoutPosition, CheckoutStore } from '../../domain/checkout/checkout.ts';
import type { Database } from '../database/database.ts';
import type { Tables } from '../database/tables.ts';
import { entityTransaction } from '../database/transaction.ts';
import { CheckoutEntity } from './entities/checkout.ts';
import { checkoutOf, storedCheckoutOf } from './entity-values.ts';
import { FOR_UPDATE, lockPaymentEvents, storeEvent } from './payment-events.ts';

/** Reads of the writing connection: a buyer returns within milliseconds of the payment event. */
const CURRENT = { connectionType: 'write' } as const;

/** Checkouts that follow a place. The first condition bounds the range that the index reads. */
function following({ createdAt, id }: CheckoutPosition, descending: boolean): object {
  const ms = createdAt.getTime();
  return descending
    ? { createdAt: { $lte: ms }, $or: [{ createdAt: { $lt: ms } }, { id: { $lt: id } }] }
    : { createdAt: { $gte: ms }, $or: [{ createdAt: { $gt: ms } }, { id: { $gt: id } }] };
}

/** Removes old unpaid checkouts, and old events without a checkout. */
async function removeBefore(em: SqlEntityManager, before: number): Promise<void> {
  const db = em.getKysely<Tables>();
  await db.deleteFrom('checkout').where('created_at', '<', before).where('paid_at', 'is', null).execute();
  await db
    .deleteFrom('payment_event')
    .where('at', '<', before)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('checkout').select('id').whereRef('checkout.id', '=', 'payment_event.checkout_id'))),
    )
    .execute();
  await db
    .deleteFrom('payment_object')
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(selectFrom('payment_event').select('id').whereRef('payment_event.id', '=', 'payment_object.event_id')),
      ),
    )
    .execute();
}

/** Checkouts and payment events as managed entities. */
export function createCheckoutStore({ orm, flavour, inFlight }: Database): CheckoutStore {
  const write = <Result>(work: (em: SqlEntityManager) => Result | Promise<Result>): Promise<Result> =>
    inFlight.write(() => entityTransaction(orm, work));
  const findBy = (where: FilterQuery<CheckoutEntity>): Promise<Checkout | null> =>
    inFlight.run(async () => {
      const entity = await orm.em.fork().findOne(CheckoutEntity, where, CURRENT);
      return entity === null ? null : checkoutOf(entity);
    });

  return {
    add: (checkout) =>
      write((em) => {
        em.create(CheckoutEntity, storedCheckoutOf(checkout));
      }),
    find: (id) => findBy({ id }),
    findByKey: (hash) => findBy({ keyHash: hash }),
    setSession: (id, sessionId) =>
      write(async (em) => {
        const entity = await em.findOne(CheckoutEntity, { id, sessionId: null }, FOR_UPDATE);
        if (entity !== null) entity.sessionId = sessionId;
      }),
    take: (event) =>
      write(async (em) => {
        await lockPaymentEvents(em, flavour);
        const entity = await storeEvent(em, event);
        return entity === null ? null : checkoutOf(entity);
      }),
    issueKey: (id, key, instead) =>
      write(async (em) => {
        const replaceable = { id, state: 'paid', revokedAt: null, keyHash: instead } as const;
        const entity = await em.findOne(CheckoutEntity, replaceable, FOR_UPDATE);
        if (entity === null) return false;
        entity.keyHash = key.hash;
        entity.keyName = key.name;
        entity.keyIssuedAt = key.issuedAt.getTime();
        return true;
      }),
    revoke: (id, at) =>
      write(async (em) => {
        const entity = await em.findOne(CheckoutEntity, { id }, FOR_UPDATE);
        if (entity === null) return null;
        entity.revokedAt ??= at.getTime();
        return checkoutOf(entity);
      }),
    list: ({ state, descending, after, limit }) =>
      inFlight.run(async () => {
        const where = {
          ...(state === null ? {} : { state }),
          ...(after === null ? {} : following(after, descending)),
        } as FilterQuery<CheckoutEntity>;
        const direction = descending ? 'desc' : 'asc';
        const order = { orderBy: { createdAt: direction, id: direction }, limit } as const;
        return (await orm.em.fork().find(CheckoutEntity, where, { ...CURRENT, ...order })).map(checkoutOf);
      }),
    prune: (before) =>
      write(async (em) => {
        await lockPaymentEvents(em, flavour);
        await removeBefore(em, before.getTime());
      }),
  };
}
