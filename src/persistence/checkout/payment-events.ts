import { LockMode } from '@mikro-orm/core';
import type { SqlEntityManager } from '@mikro-orm/sql';
import { sql } from 'kysely';
import { type PaymentEvent, stateByEvents } from '../../domain/checkout/payment-event.ts';
import type { SqlFlavour } from '../database/database.ts';
import { CheckoutEntity, PaymentEventEntity, PaymentObjectEntity } from './entities.ts';

/** Row lock of a checkout that a transaction changes. SQLite has none: its transactions exclude each other. */
export const FOR_UPDATE = { lockMode: LockMode.PESSIMISTIC_WRITE } as const;

/**
 * Serializes the transactions that add payment events. Otherwise two concurrent events that share an object could each
 * miss the other. SQLite transactions are serialized already.
 */
export async function lockPaymentEvents(em: SqlEntityManager, flavour: SqlFlavour): Promise<void> {
  if (flavour === 'postgresql') await sql`lock table payment_event in exclusive mode`.execute(em.getKysely());
}

/** Adds an event with its objects; null when an event with this id is stored already. */
async function addEvent(em: SqlEntityManager, event: PaymentEvent): Promise<PaymentEventEntity | null> {
  const { id, fact, at, subject } = event;
  if ((await em.findOne(PaymentEventEntity, { id })) !== null) return null;
  for (const object of new Set(event.objects)) em.create(PaymentObjectEntity, { object, eventId: id });
  return em.create(PaymentEventEntity, { id, fact, at, subject, checkoutId: null });
}

/** The stored events that name any of these objects. */
async function eventsNaming(em: SqlEntityManager, objects: readonly string[]): Promise<readonly PaymentEventEntity[]> {
  const naming = await em.find(PaymentObjectEntity, { object: { $in: [...objects] } });
  return em.find(PaymentEventEntity, { id: { $in: naming.map(({ eventId }) => eventId) } });
}

/**
 * The checkout that an event belongs to: by the checkout id in the event, else by an object that a known event shares.
 */
async function findCheckout(em: SqlEntityManager, event: PaymentEvent): Promise<CheckoutEntity | null> {
  const byId =
    event.checkoutId === null ? null : await em.findOne(CheckoutEntity, { id: event.checkoutId }, FOR_UPDATE);
  // A checkout has one session. An event of another session does not pay for it, even with the id of the checkout.
  const isOfOtherSession = event.sessionId !== null && (byId?.sessionId ?? event.sessionId) !== event.sessionId;
  if (byId !== null && !isOfOtherSession) return byId;
  const checkoutIds = (await eventsNaming(em, event.objects)).flatMap(({ checkoutId }) => checkoutId ?? []);
  // Sorted, so that the order of the rows does not decide which of several checkouts is found.
  const [id] = checkoutIds.toSorted();
  return id === undefined ? null : em.findOne(CheckoutEntity, { id }, FOR_UPDATE);
}

/**
 * An event and all events without a checkout that are connected with it: through shared objects, directly or through
 * other events.
 */
async function connectedEvents(
  em: SqlEntityManager,
  first: PaymentEventEntity,
  objects: readonly string[],
): Promise<readonly PaymentEventEntity[]> {
  const events = new Set([first]);
  let next = objects;
  while (next.length > 0) {
    const found = (await eventsNaming(em, next)).filter((event) => event.checkoutId == null && !events.has(event));
    for (const event of found) events.add(event);
    const named = await em.find(PaymentObjectEntity, { eventId: { $in: found.map(({ id }) => id) } });
    next = named.map(({ object }) => object);
  }
  return [...events];
}

/**
 * Assigns a new event, and the events connected with it, to a checkout. Updates the checkout's state from all its
 * events.
 */
async function applyEvent(
  em: SqlEntityManager,
  checkout: CheckoutEntity,
  event: PaymentEvent,
  stored: PaymentEventEntity,
): Promise<void> {
  // The checkout may lack its session id, for example if the process ended after opening the session and before storing
  // the id.
  if (event.sessionId !== null) checkout.sessionId ??= event.sessionId;
  const earlier = await em.find(PaymentEventEntity, { checkoutId: checkout.id });
  const connected = await connectedEvents(em, stored, event.objects);
  for (const one of connected) one.checkoutId = checkout.id;
  const { state, paidAt } = stateByEvents(
    [...earlier, ...connected].map(({ fact, subject, at }) => ({ fact, subject, at })),
  );
  checkout.state = state;
  checkout.paidAt = paidAt;
}

/** Stores an event and applies it to its checkout, in the caller's transaction. Null while its checkout is unknown. */
export async function storeEvent(em: SqlEntityManager, event: PaymentEvent): Promise<CheckoutEntity | null> {
  const checkout = await findCheckout(em, event);
  const stored = await addEvent(em, event);
  if (checkout !== null && stored !== null) await applyEvent(em, checkout, event, stored);
  return checkout;
}
