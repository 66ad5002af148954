import { sql, type Kysely } from 'kysely';
import { type PaymentEvent, standingOf } from '../../domain/checkout/payment-event.ts';
import type { SqlFlavour } from '../database/database.ts';
import { textsIn } from '../database/rows.ts';
import type { Tables } from '../database/tables.ts';

type Transaction = Kysely<Tables>;

/**
 * Events come one at a time: two that are the first to name each other's objects would otherwise both find nothing.
 * SQLite's transactions exclude each other by themselves.
 */
export async function oneAtATime(db: Transaction, flavour: SqlFlavour): Promise<void> {
  if (flavour === 'postgresql') await sql`lock table payment_event in exclusive mode`.execute(db);
}

/** Keeps an event; false when it was kept before. */
export async function keepEvent(db: Transaction, event: PaymentEvent): Promise<boolean> {
  const kept = await db
    .insertInto('payment_event')
    .values({ id: event.id, fact: event.fact, at: event.at.getTime(), subject: event.subject, checkout_id: null })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning('id')
    .execute();
  if (kept.length === 0) return false;
  await db
    .insertInto('payment_object')
    .values([...new Set(event.objects)].map((object) => ({ object, event_id: event.id })))
    .execute();
  return true;
}

/** The checkout an event belongs to: by our mark on it, else by an object it shares with what is known. */
export async function findOwner(db: Transaction, flavour: SqlFlavour, event: PaymentEvent): Promise<string | null> {
  const marked = await db
    .selectFrom('checkout')
    .select(['id', 'session_id'])
    .where('id', '=', event.checkoutId ?? '')
    .executeTakeFirst();
  // One checkout has one session: another session, whatever is marked on it, does not pay for it.
  if (marked && [null, marked.session_id ?? event.sessionId].includes(event.sessionId)) return marked.id;
  const shared = await db
    .selectFrom('payment_event')
    .innerJoin('payment_object', 'payment_object.event_id', 'payment_event.id')
    .select('payment_event.checkout_id')
    .where('payment_object.object', 'in', textsIn(flavour, event.objects))
    .where('payment_event.checkout_id', 'is not', null)
    .orderBy('payment_event.checkout_id')
    .executeTakeFirst();
  return shared?.checkout_id ?? null;
}

/** Gives a checkout every event that hangs together with one of its own, however far the thread goes. */
export async function gather(db: Transaction, checkoutId: string, first: string): Promise<void> {
  await sql`
    with recursive thread(id) as (
      select ${sql.val(first)}
      union
      select other.event_id
      from thread
      join payment_object as mine on mine.event_id = thread.id
      join payment_object as other on other.object = mine.object
      join payment_event as event on event.id = other.event_id
      where event.checkout_id is null
    )
    update payment_event set checkout_id = ${sql.val(checkoutId)}
    where checkout_id is null and id in (select id from thread)
  `.execute(db);
}

/** Notes the session of a checkout that has none: the process may have ended between opening it and noting it. */
export async function noteSession(db: Transaction, checkoutId: string, sessionId: string): Promise<void> {
  const row = db.updateTable('checkout').set({ session_id: sessionId });
  await row.where('id', '=', checkoutId).where('session_id', 'is', null).execute();
}

/** Writes down where a checkout stands after everything that was told about it. */
export async function settle(db: Transaction, checkoutId: string): Promise<void> {
  const told = await db
    .selectFrom('payment_event')
    .select(['fact', 'subject', sql<string>`cast("at" as text)`.as('at')])
    .where('checkout_id', '=', checkoutId)
    .execute();
  const { state, paidAt } = standingOf(
    told.map(({ fact, subject, at }) => ({ fact, subject, at: new Date(Number(at)) })),
  );
  await db
    .updateTable('checkout')
    .set({ state, paid_at: paidAt?.getTime() ?? null })
    .where('id', '=', checkoutId)
    .execute();
}
