import type { CheckoutState, PaymentEvent } from './payment-event.ts';
import type { CheckoutMode } from './payments.ts';

/** Maximum number of checkouts of a page. */
export const CHECKOUT_PAGE_SIZE = 50;

/** A key that removes the catalog's free tier limit. Only its hash is stored; the key itself is shown once. */
export interface CatalogKey {
  /** SHA-256 hex of the key. */
  readonly hash: string;
  /** `ck-...` and the last four characters, to recognise the key. */
  readonly name: string;
  readonly issuedAt: Date;
}

/** One purchase, from the creation of its payment session. */
export interface Checkout {
  readonly id: string;
  readonly mode: CheckoutMode;
  /** SHA-256 hex of the secret in the buyer's return URL. */
  readonly secretHash: string;
  /** Id of the provider's session; null until it is opened. */
  readonly sessionId: string | null;
  readonly state: CheckoutState;
  readonly createdAt: Date;
  readonly paidAt: Date | null;
  /** The last key issued for it; null before the first. */
  readonly key: CatalogKey | null;
  /** When an administrator revoked the key permanently; null when not revoked. */
  readonly revokedAt: Date | null;
}

/** A page of checkouts begins after this one. */
export type CheckoutPosition = Pick<Checkout, 'createdAt' | 'id'>;

/** Request for one page of checkouts in the order of their creation. */
export interface CheckoutPage {
  /** State of the checkouts; null for all. */
  readonly state: CheckoutState | null;
  readonly descending: boolean;
  /** The checkout after which the page begins; null for the first page. */
  readonly after: CheckoutPosition | null;
  readonly limit: number;
}

/** Store of checkouts and their payment events. */
export interface CheckoutStore {
  /** Stores a new checkout. */
  add(checkout: Checkout): Promise<void>;
  find(id: string): Promise<Checkout | null>;
  /** The checkout whose key has this hash. */
  findByKey(hash: string): Promise<Checkout | null>;
  /** Stores the session id of a checkout that has none. */
  setSession(id: string, sessionId: string): Promise<void>;
  /**
   * Stores an event and applies it to its checkout, in one transaction. The checkout is found by its id in the event,
   * or by objects that the event shares with earlier events. Earlier events without a checkout that are connected with
   * this event are applied, too. The state is that of `stateByEvents`. Resolves to the checkout; null while it is not
   * known. An event that is stored already changes nothing.
   */
  applyEvent(event: PaymentEvent): Promise<Checkout | null>;
  /**
   * Stores a key of a checkout in place of the key with the hash `instead` (null for the first one). When it is called
   * several times at once, one call resolves to true. False when the checkout is not paid, is revoked, or has another
   * key than `instead`.
   */
  issueKey(id: string, key: CatalogKey, instead: string | null): Promise<boolean>;
  /** Revokes the key permanently. Resolves to the changed checkout; null when there is none with this id. */
  revoke(id: string, at: Date): Promise<Checkout | null>;
  list(page: CheckoutPage): Promise<readonly Checkout[]>;
  /** Removes checkouts that were never paid and events without a checkout, when older than this. */
  prune(before: Date): Promise<void>;
}

/** How long the buyer can replace a lost key without an administrator. */
const REPLACEABLE_MS = 86_400_000;

/** Whether a checkout entitles to a key. */
export const isEntitled = ({ state, revokedAt }: Checkout): boolean => state === 'paid' && revokedAt === null;

/**
 * Whether the buyer may still replace the key: only for a day, because the return URL stays in the browser's history.
 */
export const isReplaceable = (checkout: Checkout, now: Date): boolean =>
  isEntitled(checkout) && checkout.key !== null && now.getTime() - checkout.key.issuedAt.getTime() < REPLACEABLE_MS;

/** Prefix of catalog keys. Gateway keys begin with `sk-`; neither is valid in place of the other. */
export const CATALOG_KEY_PREFIX = 'ck-';

/** Display name of a key: its prefix and its last four characters. */
export const catalogKeyName = (key: string): string => `${CATALOG_KEY_PREFIX}...${key.slice(-4)}`;
