import type { CheckoutState, PaymentEvent } from './payment-event.ts';
import type { CheckoutMode } from './payments.ts';

/** A key that lifts the free tier of the catalog. Only its hash is kept; the key itself is shown once. */
export interface CatalogKey {
  /** SHA-256 hex of the key. */
  readonly hash: string;
  /** `ck-...` and the last four characters, for people to recognise it by. */
  readonly name: string;
  readonly issuedAt: Date;
}

/** One purchase, from the first click on. */
export interface Checkout {
  readonly id: string;
  readonly mode: CheckoutMode;
  /** SHA-256 hex of the secret that only the buyer's way back carries. */
  readonly secretHash: string;
  /** The provider's session; null until it has been opened. */
  readonly sessionId: string | null;
  readonly state: CheckoutState;
  readonly createdAt: Date;
  readonly paidAt: Date | null;
  /** The key that was made for it last; null until the buyer has seen one. */
  readonly key: CatalogKey | null;
  /** When an administrator took the key away, for good; null while nobody has. */
  readonly revokedAt: Date | null;
}

/** Where a page of checkouts begins: behind this one. */
export type CheckoutPlace = Pick<Checkout, 'createdAt' | 'id'>;

/** Where purchases, and what was told about them, are kept. */
export interface CheckoutStore {
  /** Keeps a new one. */
  add(checkout: Checkout): Promise<void>;
  find(id: string): Promise<Checkout | null>;
  /** The one whose key has this hash. */
  findByKey(hash: string): Promise<Checkout | null>;
  /** Notes the session of a checkout that has none. */
  setSession(id: string, sessionId: string): Promise<void>;
  /**
   * Takes in what was told. In one commit it is kept, finds its checkout by the objects it shares with what was told
   * before, and the checkout stands as `standingOf` says; so do events that had no checkout until now. Gives the
   * checkout as it stands then, null when none is known yet. An event that is already kept changes nothing.
   */
  take(event: PaymentEvent): Promise<Checkout | null>;
  /**
   * Gives a checkout a key in place of `instead` (its hash; null for the first one). Of any number that ask at once
   * one gets true; false when the checkout is not paid, is revoked, or has another key than `instead`.
   */
  issueKey(id: string, key: CatalogKey, instead: string | null): Promise<boolean>;
  /** Takes the key away for good. Gives the checkout as it stands then; null when there is none with this id. */
  revoke(id: string, at: Date): Promise<Checkout | null>;
  /** Newest first, at most `limit`. */
  list(after: CheckoutPlace | null, limit: number): Promise<readonly Checkout[]>;
  /** Drops checkouts nobody ever paid and events no checkout is known for, when older than this. */
  prune(before: Date): Promise<void>;
}

/** How long the buyer alone may have a key that was lost on its way made anew. */
const REPLACEABLE_MS = 86_400_000;

/** Whether a checkout entitles to a key. */
export const isEntitled = ({ state, revokedAt }: Checkout): boolean => state === 'paid' && revokedAt === null;

/** Whether the buyer may still replace the key: for a day, since the way back lies in a browser's history. */
export const isReplaceable = (checkout: Checkout, now: Date): boolean =>
  isEntitled(checkout) && checkout.key !== null && now.getTime() - checkout.key.issuedAt.getTime() < REPLACEABLE_MS;

/** Every catalog key begins so; the gateway's begin `sk-`, and neither opens what the other does. */
export const CATALOG_KEY_PREFIX = 'ck-';

/** A key's name for people: its beginning and its last four characters. */
export const catalogKeyName = (key: string): string => `${CATALOG_KEY_PREFIX}...${key.slice(-4)}`;
