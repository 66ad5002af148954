import {
  CATALOG_KEY_PREFIX,
  type CatalogKey,
  catalogKeyName,
  type Checkout,
  type CheckoutPlace,
  isEntitled,
  isReplaceable,
} from '../src/domain/checkout/checkout.ts';
import type { PaymentEvent } from '../src/domain/checkout/payment-event.ts';
import { Conflict, DomainError, InvalidInput, NotFound } from '../src/domain/errors.ts';
import type { Page } from '../src/domain/page.ts';
import { admin, anyone } from './operation/access.ts';
import { operation } from './operation/operation.ts';
import type { Platform } from './operation/scope.ts';

/** Most checkouts on a page. */
export const CHECKOUT_PAGE_SIZE = 50;
/** Ids are ours: anything longer, or with other characters, names no checkout. */
const CHECKOUT_ID = /^[\w-]{1,64}$/;

/** Who comes back from paying: the checkout, and the secret only the buyer's way back carries. */
export interface Buyer {
  readonly checkoutId: string;
  readonly secret: string;
}

/** What a buyer who comes back is to see. */
export interface Purchase {
  readonly checkout: Checkout;
  /** The key itself, this once; null before it is paid, when it is not, and when it has been shown. */
  readonly clearKey: string | null;
  /** Whether a key that was lost may still be made anew. */
  readonly replaceable: boolean;
}

/** A key as it is shown, once. */
export interface IssuedCatalogKey {
  readonly clearKey: string;
  readonly checkout: Checkout;
}

/** Where the buyer comes back to; only here does the secret stand. */
function successUrl(base: string, { checkoutId, secret }: Buyer): string {
  return `${base}/billing/success?checkout=${checkoutId}&secret=${secret}`;
}

/**
 * Opens a purchase and gives the page to pay on. Throws UpstreamFailed, LimitExceeded, and Unavailable where nothing
 * is for sale.
 */
export const createCheckout = operation({
  name: 'createCheckout',
  access: anyone,
  async run({ platform, client }, _input: undefined): Promise<{ readonly url: string }> {
    const { stores, payments, keySmith, clock, ids } = platform;
    const buyer: Buyer = { checkoutId: ids.uuid(), secret: keySmith.token() };
    const base = platform.publicUrl();
    const open = () =>
      payments.openSession({
        checkoutId: buyer.checkoutId,
        successUrl: successUrl(base, buyer),
        cancelUrl: `${base}/billing/cancelled`,
      });
    // Says what to set, and leaves no row behind.
    if (!payments.configured) return open();
    platform.checkoutPace.count(client.network);
    await stores.checkouts.add({
      id: buyer.checkoutId,
      mode: payments.mode,
      secretHash: keySmith.hash(buyer.secret),
      sessionId: null,
      state: 'open',
      createdAt: clock.now(),
      paidAt: null,
      key: null,
      revokedAt: null,
    });
    const session = await open();
    // Should this process end here: the session carries our id, and brings it back with its first event.
    await stores.checkouts.setSession(buyer.checkoutId, session.id);
    return { url: session.url };
  },
});

/** Takes in what was told about a purchase, and has its key hold, or hold no longer, from this moment on. */
async function takeEvent({ stores, catalogKeys }: Platform, event: PaymentEvent): Promise<Checkout | null> {
  const checkout = await stores.checkouts.take(event);
  if (checkout?.key) catalogKeys.forget(checkout.key.hash);
  return checkout;
}

/** Takes a message that claims to be the payment provider's. Throws InvalidInput when it is not. */
export const takePaymentMessage = operation({
  name: 'takePaymentMessage',
  access: anyone,
  async run({ platform }, message: { readonly bytes: Uint8Array; readonly signature: string | null }): Promise<void> {
    const event = await platform.payments.readMessage(message.bytes, message.signature);
    if (event !== null) await takeEvent(platform, event);
  },
});

/** The checkout a buyer holds the secret of. Throws NotFound, the same for a wrong id and a wrong secret. */
async function checkoutOf({ stores, keySmith }: Platform, { checkoutId, secret }: Buyer): Promise<Checkout> {
  const checkout = CHECKOUT_ID.test(checkoutId) ? await stores.checkouts.find(checkoutId) : null;
  // Hashes are compared, so how long that takes says nothing about the secret.
  if (checkout === null || checkout.secretHash !== keySmith.hash(secret))
    throw new NotFound('checkout', checkoutId, 'There is no purchase at this address.');
  return checkout;
}

/** The checkout that is there. Throws NotFound; text that can be no id is not looked up. */
async function found(id: string, lookUp: () => Promise<Checkout | null>): Promise<Checkout> {
  const checkout = CHECKOUT_ID.test(id) ? await lookUp() : null;
  if (checkout === null) throw new NotFound('checkout', id);
  return checkout;
}

/** Asks the provider how a purchase stands: a lost message must not lose a paid key. */
async function askProvider(platform: Platform, checkout: Checkout): Promise<Checkout> {
  const waiting = checkout.state === 'open' || checkout.state === 'processing';
  if (!waiting || checkout.sessionId === null || !platform.payments.configured) return checkout;
  try {
    const event = await platform.payments.readSession(checkout.sessionId);
    return (event && (await takeEvent(platform, event))) ?? checkout;
  } catch (error) {
    // The buyer waits on, and is asked to come again: the message may still come.
    if (error instanceof DomainError) return checkout;
    throw error;
  }
}

/** Makes a key in place of another; null when somebody else was faster, or there is nothing to make one for. */
async function issueKey(
  { stores, keySmith, catalogKeys, clock }: Platform,
  checkout: Checkout,
): Promise<string | null> {
  const clearKey = `${CATALOG_KEY_PREFIX}${keySmith.token()}`;
  const hash = keySmith.hash(clearKey);
  const key: CatalogKey = { hash, name: catalogKeyName(clearKey), issuedAt: clock.now() };
  const issued = await stores.checkouts.issueKey(checkout.id, key, checkout.key?.hash ?? null);
  if (issued && checkout.key) catalogKeys.forget(checkout.key.hash);
  return issued ? clearKey : null;
}

async function purchaseOf(platform: Platform, id: string, clearKey: string | null): Promise<Purchase> {
  const checkout = await found(id, () => platform.stores.checkouts.find(id));
  return { checkout, clearKey, replaceable: isReplaceable(checkout, platform.clock.now()) };
}

/**
 * What the buyer sees on the way back. The first to come once it is paid gets the key, made at that moment: nothing
 * that could show it again is kept. Throws NotFound.
 */
export const openPurchase = operation({
  name: 'openPurchase',
  access: anyone,
  async run({ platform }, { mayShow, ...buyer }: Buyer & { readonly mayShow: boolean }): Promise<Purchase> {
    const checkout = await askProvider(platform, await checkoutOf(platform, buyer));
    const due = mayShow && isEntitled(checkout) && checkout.key === null;
    return purchaseOf(platform, checkout.id, due ? await issueKey(platform, checkout) : null);
  },
});

/** Makes the buyer's key anew, for a day after the last: the old one ends. Throws NotFound and Conflict. */
export const replaceLostKey = operation({
  name: 'replaceLostKey',
  access: anyone,
  async run({ platform }, buyer: Buyer): Promise<Purchase> {
    const checkout = await checkoutOf(platform, buyer);
    const replaceable = isReplaceable(checkout, platform.clock.now());
    const clearKey = replaceable ? await issueKey(platform, checkout) : null;
    if (clearKey === null) throw new Conflict('This key cannot be replaced here. Ask whoever sold it.');
    return purchaseOf(platform, checkout.id, clearKey);
  },
});

/** Makes a buyer's key anew, whenever; the old one ends. Throws NotFound, and Conflict when nothing is paid. */
export const replaceCatalogKey = operation({
  name: 'replaceCatalogKey',
  access: admin,
  async run({ platform }, id: string): Promise<IssuedCatalogKey> {
    const clearKey = await issueKey(platform, (await purchaseOf(platform, id, null)).checkout);
    if (clearKey === null) throw new Conflict('This checkout entitles to no key.');
    return { clearKey, checkout: (await purchaseOf(platform, id, null)).checkout };
  },
});

/** Takes a catalog key away for good; the checkout gets no other. Throws NotFound. */
export const revokeCatalogKey = operation({
  name: 'revokeCatalogKey',
  access: admin,
  async run({ platform: { stores, catalogKeys, clock } }, id: string): Promise<Checkout> {
    const checkout = await found(id, () => stores.checkouts.revoke(id, clock.now()));
    if (checkout.key) catalogKeys.forget(checkout.key.hash);
    return checkout;
  },
});

/** Opaque: where a page of checkouts goes on. */
export const checkoutCursor = ({ createdAt, id }: CheckoutPlace): string => `${createdAt.getTime()}.${id}`;

function placeOf(cursor: string): CheckoutPlace {
  const [ms = '', id = ''] = cursor.split('.');
  if (!/^\d{1,15}$/.test(ms) || !CHECKOUT_ID.test(id)) throw new InvalidInput('Invalid cursor.');
  return { createdAt: new Date(Number(ms)), id };
}

/** Purchases, newest first. Throws InvalidInput. */
export const listCheckouts = operation({
  name: 'listCheckouts',
  access: admin,
  async run({ platform }, input: { readonly cursor: string | null; readonly limit: number }): Promise<Page<Checkout>> {
    const { cursor, limit } = input;
    if (limit < 1 || limit > CHECKOUT_PAGE_SIZE)
      throw new InvalidInput(`A page holds 1 to ${CHECKOUT_PAGE_SIZE} checkouts.`);
    const rows = await platform.stores.checkouts.list(cursor === null ? null : placeOf(cursor), limit + 1);
    const items = rows.slice(0, limit);
    const last = items.at(-1);
    return { items, nextCursor: rows.length > limit && last ? checkoutCursor(last) : null };
  },
});

/** How long what nobody paid for, and what was told about no purchase of ours, is kept. */
const KEPT_MS = 30 * 86_400_000;

/**
 * Takes in what the provider told since an instant, messages that never came among it, and drops what is too old to
 * matter. For the platform itself, not a caller. Throws UpstreamFailed and Unavailable.
 */
export async function reconcilePayments(platform: Platform, since: Date, signal: AbortSignal): Promise<void> {
  for await (const event of platform.payments.listEvents(since)) {
    signal.throwIfAborted();
    await takeEvent(platform, event);
  }
  await platform.stores.checkouts.prune(new Date(platform.clock.now().getTime() - KEPT_MS));
}
