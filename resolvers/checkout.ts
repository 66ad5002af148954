import {
  CATALOG_KEY_PREFIX,
  type CatalogKey,
  catalogKeyName,
  type Checkout,
  type CheckoutPage,
  isEntitled,
  isReplaceable,
  CHECKOUT_PAGE_SIZE,
} from '../src/domain/checkout/checkout.ts';
import type { PaymentEvent } from '../src/domain/checkout/payment-event.ts';
import { Conflict, DomainError, NotFound } from '../src/domain/errors.ts';
import type { Page } from '../src/domain/page.ts';
import { checkedPageSize } from '../src/domain/page-size.ts';
import { CHECKOUT_ID, checkoutCursor, readCheckoutCursor } from '../src/domain/checkout/checkout-cursor.ts';
import { admin, anyone, system } from './operation/access.ts';
import { operation } from './operation/operation.ts';
import type { CheckoutPlatform } from './operation/catalog-platform.ts';
import type { Scope } from './operation/scope.ts';

/** Id and secret of a checkout. Only the address to which the payment page returns contains the secret. */
export interface Buyer {
  readonly checkoutId: string;
  readonly secret: string;
}

/** State of a purchase for its buyer. */
export interface Purchase {
  readonly checkout: Checkout;
  /** The key, returned only by the operation that issues it; null otherwise. */
  readonly clearKey: string | null;
  /** Whether a lost key may still be replaced. */
  readonly replaceable: boolean;
}

/** A new catalog key. Its secret is returned once. */
export interface IssuedCatalogKey {
  readonly clearKey: string;
  readonly checkout: Checkout;
}

/** Address to which the payment page returns the buyer after a payment. */
function successUrl(base: string, { checkoutId, secret }: Buyer): string {
  return `${base}/billing/success?checkout=${checkoutId}&secret=${secret}`;
}

/**
 * Starts a purchase and returns the address of the payment page. Throws UpstreamFailed, LimitExceeded, and Unavailable
 * when payments are not configured.
 */
export const createCheckout = operation({
  name: 'createCheckout',
  access: anyone,
  async run({ platform, client }: Scope<CheckoutPlatform>, _input: undefined): Promise<{ readonly url: string }> {
    const { stores, payments, keyGenerator, clock, ids } = platform;
    const buyer: Buyer = { checkoutId: ids.uuid(), secret: keyGenerator.token() };
    const base = platform.publicUrl();
    const openSession = () =>
      payments.openSession({
        checkoutId: buyer.checkoutId,
        successUrl: successUrl(base, buyer),
        cancelUrl: `${base}/billing/cancelled`,
      });
    // Without the settings of payments, this call throws Unavailable with the names of the settings.
    if (!payments.configured) return openSession();
    platform.checkoutRateLimiter.count(client.network);
    await stores.checkouts.add({
      id: buyer.checkoutId,
      mode: payments.mode,
      secretHash: keyGenerator.hash(buyer.secret),
      sessionId: null,
      state: 'open',
      createdAt: clock.now(),
      paidAt: null,
      key: null,
      revokedAt: null,
    });
    const session = await openSession();
    // If the process ends before this write, the first event of the session still contains the id of the checkout.
    await stores.checkouts.setSession(buyer.checkoutId, session.id);
    return { url: session.url };
  },
});

/**
 * Applies a payment event; null for an event without a known checkout. The key becomes valid or invalid immediately.
 */
async function applyEvent({ stores, catalogKeys }: CheckoutPlatform, event: PaymentEvent): Promise<Checkout | null> {
  const checkout = await stores.checkouts.applyEvent(event);
  if (checkout?.key) catalogKeys.evict(checkout.key.hash);
  return checkout;
}

/** Applies a signed message of the payment provider. Throws InvalidInput for an invalid signature. */
export const takePaymentMessage = operation({
  name: 'takePaymentMessage',
  access: anyone,
  async run(
    { platform }: Scope<CheckoutPlatform>,
    message: { readonly bytes: Uint8Array; readonly signature: string | null },
  ): Promise<void> {
    const event = await platform.payments.readMessage(message.bytes, message.signature);
    if (event !== null) await applyEvent(platform, event);
  },
});

/** The checkout of a buyer. Throws NotFound, the same for a wrong id and a wrong secret. */
async function checkoutOf(
  { stores, keyGenerator }: CheckoutPlatform,
  { checkoutId, secret }: Buyer,
): Promise<Checkout> {
  const checkout = CHECKOUT_ID.test(checkoutId) ? await stores.checkouts.find(checkoutId) : null;
  if (checkout === null || !keyGenerator.same(checkout.secretHash, keyGenerator.hash(secret)))
    throw new NotFound('checkout', checkoutId, 'There is no purchase at this address.');
  return checkout;
}

/** Looks up a checkout. Throws NotFound. Text that cannot be an id is not looked up. */
async function existingCheckout(id: string, lookUp: () => Promise<Checkout | null>): Promise<Checkout> {
  const checkout = CHECKOUT_ID.test(id) ? await lookUp() : null;
  if (checkout === null) throw new NotFound('checkout', id);
  return checkout;
}

/** Reads the state of a purchase from the provider, because a message may be lost. */
async function readFromProvider(platform: CheckoutPlatform, checkout: Checkout): Promise<Checkout> {
  const awaitsPayment = checkout.state === 'open' || checkout.state === 'processing';
  if (!awaitsPayment || checkout.sessionId === null || !platform.payments.configured) return checkout;
  try {
    const event = await platform.payments.readSession(checkout.sessionId);
    const changed = event === null ? null : await applyEvent(platform, event);
    return changed ?? checkout;
  } catch (error) {
    // Ignored: the page reloads, and the message may still arrive.
    if (error instanceof DomainError) return checkout;
    throw error;
  }
}

/**
 * Issues a key in place of the checkout's key. Null when another request has issued one, or the buyer is not entitled.
 */
async function issueKey(
  { stores, keyGenerator, catalogKeys, clock }: CheckoutPlatform,
  checkout: Checkout,
): Promise<string | null> {
  const clearKey = `${CATALOG_KEY_PREFIX}${keyGenerator.token()}`;
  const hash = keyGenerator.hash(clearKey);
  const key: CatalogKey = { hash, name: catalogKeyName(clearKey), issuedAt: clock.now() };
  const issued = await stores.checkouts.issueKey(checkout.id, key, checkout.key?.hash ?? null);
  if (issued && checkout.key) catalogKeys.evict(checkout.key.hash);
  return issued ? clearKey : null;
}

async function purchaseOf(platform: CheckoutPlatform, id: string, clearKey: string | null): Promise<Purchase> {
  const checkout = await existingCheckout(id, () => platform.stores.checkouts.find(id));
  return { checkout, clearKey, replaceable: isReplaceable(checkout, platform.clock.now()) };
}

/**
 * Reads a purchase for its buyer. The first read after the payment issues the key and returns it. A read without
 * `mayShow` issues no key, because the buyer would not see it. Only the hash of the key is stored. Throws NotFound.
 */
export const openPurchase = operation({
  name: 'openPurchase',
  access: anyone,
  async run(
    { platform }: Scope<CheckoutPlatform>,
    { mayShow, ...buyer }: Buyer & { readonly mayShow: boolean },
  ): Promise<Purchase> {
    const checkout = await readFromProvider(platform, await checkoutOf(platform, buyer));
    const mustIssue = mayShow && isEntitled(checkout) && checkout.key === null;
    return purchaseOf(platform, checkout.id, mustIssue ? await issueKey(platform, checkout) : null);
  },
});

/**
 * Replaces the buyer's key within a day after it was issued; the old key becomes invalid. Throws NotFound and Conflict.
 */
export const replaceLostKey = operation({
  name: 'replaceLostKey',
  access: anyone,
  async run({ platform }: Scope<CheckoutPlatform>, buyer: Buyer): Promise<Purchase> {
    const checkout = await checkoutOf(platform, buyer);
    const replaceable = isReplaceable(checkout, platform.clock.now());
    const clearKey = replaceable ? await issueKey(platform, checkout) : null;
    if (clearKey === null) throw new Conflict('This key cannot be replaced here. Ask the seller.');
    return purchaseOf(platform, checkout.id, clearKey);
  },
});

/** One purchase by its id, or null. */
export const findCheckout = operation({
  name: 'findCheckout',
  access: admin,
  run: async ({ platform }: Scope<CheckoutPlatform>, id: string): Promise<Checkout | null> =>
    CHECKOUT_ID.test(id) ? await platform.stores.checkouts.find(id) : null,
});

/**
 * Replaces a buyer's key at any time; the old key becomes invalid. Throws NotFound, and Conflict when the buyer is not
 * entitled to a key, or another request issued one meanwhile.
 */
export const replaceCatalogKey = operation({
  name: 'replaceCatalogKey',
  access: admin,
  async run({ platform }: Scope<CheckoutPlatform>, id: string): Promise<IssuedCatalogKey> {
    const clearKey = await issueKey(platform, (await purchaseOf(platform, id, null)).checkout);
    if (clearKey === null)
      throw new Conflict(
        'No key was issued: the checkout gives no right to a key, or another request replaced the key.',
      );
    return { clearKey, checkout: (await purchaseOf(platform, id, null)).checkout };
  },
});

/** Revokes a catalog key permanently: no other key is issued for its checkout. Throws NotFound. */
export const revokeCatalogKey = operation({
  name: 'revokeCatalogKey',
  access: admin,
  async run({ platform: { stores, catalogKeys, clock } }: Scope<CheckoutPlatform>, id: string): Promise<Checkout> {
    const checkout = await existingCheckout(id, () => stores.checkouts.revoke(id, clock.now()));
    if (checkout.key) catalogKeys.evict(checkout.key.hash);
    return checkout;
  },
});

/** A page of purchases by creation time, in the direction of the input. Throws InvalidInput. */
export const listCheckouts = operation({
  name: 'listCheckouts',
  access: admin,
  async run(
    { platform }: Scope<CheckoutPlatform>,
    input: Omit<CheckoutPage, 'after'> & { readonly cursor: string | null },
  ): Promise<Page<Checkout>> {
    const { cursor, limit, ...page } = input;
    checkedPageSize(limit, { max: CHECKOUT_PAGE_SIZE });
    const after = cursor === null ? null : readCheckoutCursor(cursor);
    const rows = await platform.stores.checkouts.list({ ...page, after, limit: limit + 1 });
    const items = rows.slice(0, limit);
    const last = items.at(-1);
    return { items, nextCursor: rows.length > limit && last ? checkoutCursor(last) : null };
  },
});

/** Retention of unpaid checkouts, and of payment events without a checkout, in ms. */
const RETENTION_MS = 30 * 86_400_000;

/**
 * Applies the events of the payment provider since an instant, so that a lost message loses no purchase. Then removes
 * expired checkouts. Throws UpstreamFailed and Unavailable.
 */
export const reconcilePayments = operation({
  name: 'reconcilePayments',
  access: system,
  async run({ platform, signal }: Scope<CheckoutPlatform>, since: Date): Promise<void> {
    for await (const event of platform.payments.listEvents(since)) {
      signal.throwIfAborted();
      await applyEvent(platform, event);
    }
    await platform.stores.checkouts.prune(new Date(platform.clock.now().getTime() - RETENTION_MS));
  },
});
