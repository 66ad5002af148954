import type { PaymentEvent } from './payment-event.ts';

/** Whether a purchase is a single payment or a subscription. */
export const CHECKOUT_MODES = ['payment', 'subscription'] as const;
export type CheckoutMode = (typeof CHECKOUT_MODES)[number];

/** Data for a new payment session. */
export interface SessionDraft {
  /** Our checkout id: in the metadata of all the provider's objects, and the idempotency key of the session. */
  readonly checkoutId: string;
  readonly successUrl: string;
  readonly cancelUrl: string;
}

/** A page of the provider where the buyer pays. */
interface PaymentSession {
  readonly id: string;
  /** Address to redirect the buyer to. */
  readonly url: string;
}

/** Payment provider. Every method throws Unavailable, naming the missing setting, where it is not configured. */
export interface PaymentProvider {
  /** Which kind of purchase is configured. */
  readonly mode: CheckoutMode;
  /** Whether its API key and its price are set. */
  readonly configured: boolean;
  /** Opens a session; the same draft returns the same session. Throws UpstreamFailed and Unavailable. */
  openSession(draft: SessionDraft): Promise<PaymentSession>;
  /** The state of a session as an event; null while it has none. Throws as `openSession`. */
  readSession(sessionId: string): Promise<PaymentEvent | null>;
  /**
   * The event in a webhook message; null for events that are not used. `bytes` is the unchanged message, because its
   * signature is checked. Throws InvalidInput when the signature is missing, invalid or too old, and for a message that
   * is not an event.
   */
  readMessage(bytes: Uint8Array, signature: string | null): Promise<PaymentEvent | null>;
  /** The provider's events since an instant, newest first. Throws as `openSession`. */
  listEvents(since: Date): AsyncIterable<PaymentEvent>;
}
