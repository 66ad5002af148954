import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { CatalogKey, Checkout, CheckoutStore } from '../../src/domain/checkout/checkout.ts';
import type { PaymentEvent, PaymentFact } from '../../src/domain/checkout/payment-event.ts';
import { permutationsOf } from '../support/permutations.ts';
import type { Engine, ScratchDatabase } from './engines.ts';
import { START_MS } from './samples.ts';

const dateAfter = (second: number): Date => new Date(START_MS + second * 1000);

function aCheckout(overrides: Partial<Checkout> = {}): Checkout {
  return {
    id: 'checkout-1',
    mode: 'payment',
    secretHash: 'f'.repeat(64),
    sessionId: null,
    state: 'open',
    createdAt: dateAfter(0),
    paidAt: null,
    key: null,
    revokedAt: null,
    ...overrides,
  };
}

const aKey = (name: string, issuedAt = dateAfter(100)): CatalogKey => ({
  hash: name.padEnd(64, '0'),
  name: `ck-...${name}`,
  issuedAt,
});

/** Event about the first of the objects. */
function anEvent(
  id: string,
  fact: PaymentFact,
  objects: readonly [string, ...string[]],
  more: Partial<PaymentEvent> = {},
): PaymentEvent {
  const [subject] = objects;
  const sessionId = subject.startsWith('cs_') ? subject : null;
  return { id, fact, at: dateAfter(1), subject, objects, sessionId, checkoutId: null, ...more };
}

/** Metadata of the checkout, which the payment provider returns in events of the checkout's session. */
const MARKED = { checkoutId: 'checkout-1' };
const PAID = anEvent('evt_paid', 'paid', ['cs_1', 'pi_1'], MARKED);

const NEWEST = { state: null, descending: true, after: null, limit: 10 } as const;

/** Contract of every CheckoutStore. */
export function checkoutStoreSuite(engine: Engine): void {
  describe.skipIf(engine.skipReason !== null)(`CheckoutStore on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let store: CheckoutStore;
    beforeAll(async () => {
      scratch = await engine.create();
      store = (await scratch.open()).checkouts;
    });
    afterEach(() => scratch.clear());
    afterAll(() => scratch.remove());

    it('returns a checkout as it was added', async () => {
      const whole = aCheckout({
        mode: 'subscription',
        sessionId: 'cs_1',
        state: 'suspended',
        paidAt: dateAfter(1),
        key: aKey('a'),
        revokedAt: dateAfter(2),
      });
      await store.add(aCheckout({ id: 'bare' }));
      await store.add(whole);
      expect(await store.find('bare')).toEqual(aCheckout({ id: 'bare' }));
      expect(await store.find('checkout-1')).toEqual(whole);
      expect(await store.findByKey(aKey('a').hash)).toEqual(whole);
      expect([await store.find('other'), await store.findByKey('other')]).toEqual([null, null]);
    });

    it('stores the session of a checkout once', async () => {
      await store.add(aCheckout());
      await store.setSession('checkout-1', 'cs_1');
      await store.setSession('checkout-1', 'cs_2');
      expect((await store.find('checkout-1'))?.sessionId).toBe('cs_1');
    });

    it('gives a checkout the state of its events, and stores each event once', async () => {
      await store.add(aCheckout());
      const paid = { ...aCheckout(), sessionId: 'cs_1', state: 'paid' as const, paidAt: dateAfter(1) };
      expect(await store.applyEvent(PAID)).toEqual(paid);
      expect(await store.applyEvent(PAID)).toEqual(paid);
      // An event with a stored id changes nothing, for any content.
      expect(await store.applyEvent({ ...PAID, fact: 'refunded', at: dateAfter(9) })).toEqual(paid);
      expect(await store.find('checkout-1')).toEqual(paid);
    });

    it('keeps unrelated events apart', async () => {
      await store.add(aCheckout());
      expect(await store.applyEvent(anEvent('evt_1', 'refunded', ['ch_1', 'pi_9']))).toBeNull();
      expect(
        await store.applyEvent(anEvent('evt_2', 'paid', ['cs_9', 'pi_9'], { checkoutId: 'of-another-instance' })),
      ).toBeNull();
      expect(await store.find('checkout-1')).toEqual(aCheckout());
    });

    it('lets no other session pay for a checkout that has a session', async () => {
      await store.add(aCheckout({ sessionId: 'cs_1' }));
      expect(await store.applyEvent(anEvent('evt_1', 'paid', ['cs_2', 'pi_2'], MARKED))).toBeNull();
      expect((await store.find('checkout-1'))?.state).toBe('open');
      expect((await store.applyEvent(PAID))?.state).toBe('paid');
    });

    // Events of one purchase. Only the event of the session has our metadata; the refund names only its charge.
    const PURCHASE_EVENTS: readonly PaymentEvent[] = [
      anEvent('evt_session', 'paid', ['cs_1', 'sub_1', 'in_1'], MARKED),
      anEvent('evt_invoice', 'linked', ['inpay_1', 'in_1', 'pi_1']),
      anEvent('evt_charge', 'linked', ['ch_1', 'pi_1']),
      anEvent('evt_refund', 'refunded', ['ch_1'], { at: dateAfter(5) }),
    ];

    it.each(permutationsOf(PURCHASE_EVENTS).map((order) => [order.map(({ id }) => id).join(' '), order] as const))(
      'finds the purchase of a refund through earlier events, in any order: %s',
      async (_name, order) => {
        await store.add(aCheckout());
        for (const event of order) {
          await store.applyEvent(event);
          // A repeated event changes nothing.
          await store.applyEvent(order[0] ?? event);
        }
        expect(await store.find('checkout-1')).toEqual({
          ...aCheckout(),
          sessionId: 'cs_1',
          state: 'refunded',
          paidAt: dateAfter(1),
        });
      },
    );

    it('loses no event under concurrent writes of two processes', async () => {
      const secondStore = (await scratch.open()).checkouts;
      await store.add(aCheckout());
      const twice = [...PURCHASE_EVENTS, ...PURCHASE_EVENTS.toReversed()];
      await Promise.all(twice.map((event, index) => (index % 2 === 0 ? store : secondStore).applyEvent(event)));
      expect((await store.find('checkout-1'))?.state).toBe('refunded');
    });

    it('gives the first key to one of many concurrent requests', async () => {
      const secondStore = (await scratch.open()).checkouts;
      await store.add(aCheckout());
      await store.applyEvent(PAID);
      const issues = Array.from({ length: 10 }, (_, index) =>
        (index % 2 === 0 ? store : secondStore).issueKey('checkout-1', aKey(`k${index}`), null),
      );
      const issued = await Promise.all(issues);
      expect(issued.filter(Boolean)).toEqual([true]);
      expect((await store.find('checkout-1'))?.key).toEqual(aKey(`k${issued.indexOf(true)}`));
    });

    it('replaces only the named key', async () => {
      await store.add(aCheckout());
      await store.applyEvent(PAID);
      await store.issueKey('checkout-1', aKey('a'), null);
      expect(await store.issueKey('checkout-1', aKey('b'), aKey('x').hash)).toBe(false);
      expect(await store.issueKey('checkout-1', aKey('b'), aKey('a').hash)).toBe(true);
      expect(await store.findByKey(aKey('a').hash)).toBeNull();
      expect((await store.findByKey(aKey('b').hash))?.key).toEqual(aKey('b'));
    });

    it('gives no key for an unpaid, revoked or unknown checkout', async () => {
      await store.add(aCheckout());
      expect(await store.issueKey('checkout-1', aKey('a'), null)).toBe(false);
      await store.applyEvent(PAID);
      expect(await store.revoke('checkout-1', dateAfter(7))).toMatchObject({ state: 'paid', revokedAt: dateAfter(7) });
      expect(await store.issueKey('checkout-1', aKey('a'), null)).toBe(false);
      expect((await store.revoke('checkout-1', dateAfter(9)))?.revokedAt).toEqual(dateAfter(7));
      expect(await store.revoke('other', dateAfter(9))).toBeNull();
      expect(await store.issueKey('other', aKey('a'), null)).toBe(false);
    });

    it('loses none of the concurrent changes of one checkout', async () => {
      const secondStore = (await scratch.open()).checkouts;
      await store.add(aCheckout());
      await store.applyEvent(PAID);
      const refund = anEvent('evt_refund', 'refunded', ['ch_1', 'pi_1'], { at: dateAfter(5) });
      await Promise.all([
        store.revoke('checkout-1', dateAfter(7)),
        secondStore.setSession('checkout-1', 'cs_2'),
        secondStore.applyEvent(refund),
        store.issueKey('checkout-1', aKey('a'), aKey('x').hash),
        secondStore.revoke('checkout-1', dateAfter(7)),
      ]);
      expect(await store.find('checkout-1')).toEqual({
        ...aCheckout(),
        sessionId: 'cs_1',
        state: 'refunded',
        paidAt: dateAfter(1),
        revokedAt: dateAfter(7),
      });
    });

    it('lists in both directions, in pages, also with equal times, and by state', async () => {
      const ids = ['a', 'b', 'c', 'd', 'e'];
      for (const [index, id] of ids.entries())
        await store.add(aCheckout({ id, createdAt: dateAfter(index < 3 ? 0 : index) }));
      const first = await store.list({ ...NEWEST, limit: 3 });
      const last = first.at(-1);
      expect(first.map(({ id }) => id)).toEqual(['e', 'd', 'c']);
      expect((await store.list({ ...NEWEST, after: last ?? null, limit: 3 })).map(({ id }) => id)).toEqual(['b', 'a']);
      const oldest = { ...NEWEST, descending: false };
      const from = await store.find('b');
      expect((await store.list(oldest)).map(({ id }) => id)).toEqual(ids);
      expect((await store.list({ ...oldest, after: from })).map(({ id }) => id)).toEqual(['c', 'd', 'e']);
      expect(await store.list({ ...NEWEST, state: 'paid' })).toEqual([]);
      expect(await store.list({ ...NEWEST, state: 'open', limit: 1 })).toMatchObject([{ id: 'e' }]);
    });

    it('deletes old checkouts that were never paid, and old events without a checkout', async () => {
      await store.add(aCheckout());
      await store.add(aCheckout({ id: 'unpaid' }));
      await store.add(aCheckout({ id: 'expired' }));
      await store.add(aCheckout({ id: 'young', createdAt: dateAfter(60) }));
      await store.applyEvent(PAID);
      await store.applyEvent(anEvent('evt_expired', 'expired', ['cs_2'], { checkoutId: 'expired' }));
      await store.applyEvent(anEvent('evt_foreign', 'refunded', ['ch_9', 'pi_9']));
      await store.prune(dateAfter(50));
      expect((await store.list(NEWEST)).map(({ id }) => id)).toEqual(['young', 'checkout-1']);
      // A late refund still applies to the paid checkout.
      expect(
        (await store.applyEvent(anEvent('evt_late', 'refunded', ['ch_1', 'pi_1'], { at: dateAfter(70) })))?.state,
      ).toBe('refunded');
      // Two events are left, with two objects each.
      const { orm } = await scratch.openBare();
      expect(await orm.em.fork().execute('select event_id from payment_object order by event_id')).toEqual(
        ['evt_late', 'evt_late', 'evt_paid', 'evt_paid'].map((event_id) => ({ event_id })),
      );
    });
  });
}
