import type { FilterQuery } from '@mikro-orm/core';
import type { SqlEntityManager } from '@mikro-orm/sql';
import { sql, type SqlBool } from 'kysely';
import type { Checkout, CheckoutStore } from '../../domain/checkout/checkout.ts';
import type { Database } from '../database/database.ts';
import { type Plain, plainValues } from '../database/plain-values.ts';
import { afterPlace } from '../database/row-store.ts';
import type { Tables } from '../database/tables.ts';
import { CheckoutEntity } from './entities.ts';
import { FOR_UPDATE, lockPaymentEvents, storeEvent } from './payment-events.ts';

/**
 * Reads through the writing connection, which sees earlier writes: a buyer returns within milliseconds of the payment
 * event.
 */
const CURRENT = { connectionType: 'write' } as const;

/** Values of an entity. The members of the key are separate columns, all null until a key is issued. */
const storedOf = ({ key, ...checkout }: Checkout) => ({
  ...checkout,
  keyHash: key?.hash ?? null,
  keyName: key?.name ?? null,
  keyIssuedAt: key?.issuedAt ?? null,
});

function checkoutOf({
  keyHash: hash,
  keyName: name,
  keyIssuedAt: issuedAt,
  ...checkout
}: Plain<CheckoutEntity>): Checkout {
  return { ...checkout, key: hash === null || name === null || issuedAt === null ? null : { hash, name, issuedAt } };
}

/** Removes unpaid checkouts and events without a checkout from before a time, and all objects without an event. */
async function removeBefore(em: SqlEntityManager, before: Date): Promise<void> {
  const db = em.getKysely<Tables>();
  await em.nativeDelete(CheckoutEntity, { createdAt: { $lt: before }, paidAt: null });
  await db
    .deleteFrom('payment_event')
    .where(sql<SqlBool>`at < ${before.getTime()}`)
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
export function createCheckoutStore({ orm, flavour, inFlight, find, change }: Database): CheckoutStore {
  const plain = plainValues(orm, CheckoutEntity);
  const read = (entity: CheckoutEntity | null): Checkout | null => entity && checkoutOf(plain(entity));
  const findBy = (where: FilterQuery<CheckoutEntity>): Promise<Checkout | null> =>
    inFlight.read(async () => read(await orm.em.fork().findOne(CheckoutEntity, where, CURRENT)));

  return {
    add: (checkout) =>
      change((em) => {
        em.create(CheckoutEntity, storedOf(checkout));
      }),
    find: (id) => findBy({ id }),
    findByKey: (hash) => findBy({ keyHash: hash }),
    setSession: (id, sessionId) =>
      change(async (em) => {
        const entity = await em.findOne(CheckoutEntity, { id, sessionId: null }, FOR_UPDATE);
        if (entity !== null) entity.sessionId = sessionId;
      }),
    applyEvent: (event) =>
      change(async (em) => {
        await lockPaymentEvents(em, flavour);
        return read(await storeEvent(em, event));
      }),
    issueKey: (id, key, replacedHash) =>
      change(async (em) => {
        const replaceable = { id, state: 'paid', revokedAt: null, keyHash: replacedHash } as const;
        const entity = await em.findOne(CheckoutEntity, replaceable, FOR_UPDATE);
        if (entity === null) return false;
        Object.assign(entity, { keyHash: key.hash, keyName: key.name, keyIssuedAt: key.issuedAt });
        return true;
      }),
    revoke: (id, at) =>
      change(async (em) => {
        const entity = await em.findOne(CheckoutEntity, { id }, FOR_UPDATE);
        if (entity !== null) entity.revokedAt ??= at;
        return read(entity);
      }),
    list: ({ state, descending, after, limit }) =>
      find(async (em) => {
        const where = {
          ...(state === null ? {} : { state }),
          ...(after === null ? {} : afterPlace('createdAt', [after.createdAt, after.id], descending)),
        } as FilterQuery<CheckoutEntity>;
        const direction = descending ? 'desc' : 'asc';
        const order = { orderBy: { createdAt: direction, id: direction }, limit } as const;
        const found = await em.find(CheckoutEntity, where, { ...CURRENT, ...order });
        return found.map((entity) => checkoutOf(plain(entity)));
      }),
    prune: (before) =>
      change(async (em) => {
        await lockPaymentEvents(em, flavour);
        await removeBefore(em, before);
      }),
  };
}
