import type { PaymentEvent } from './payment-event.ts';

/** Whether a purchase is paid once or again and again. */
export const CHECKOUT_MODES = ['payment', 'subscription'] as const;
export type CheckoutMode = (typeof CHECKOUT_MODES)[number];

/** What a buyer is to be shown and sent back to. */
export interface SessionDraft {
  /** Ours: written on everything the provider makes, and the reason why asking twice makes one session. */
  readonly checkoutId: string;
  readonly successUrl: string;
  readonly cancelUrl: string;
}

/** A page of the provider where the buyer pays. */
interface PaymentSession {
  readonly id: string;
  /** Where to send the buyer. */
  readonly url: string;
}

/** Who takes the money. Every method throws Unavailable, naming what to set, where it is not configured. */
export interface PaymentProvider {
  /** Which kind of purchase is configured. */
  readonly mode: CheckoutMode;
  /** Whether a key is set, so that asking makes sense. */
  readonly configured: boolean;
  /** Opens a session; the same draft gives the same session. Throws UpstreamFailed and Unavailable. */
  openSession(draft: SessionDraft): Promise<PaymentSession>;
  /** What a session has come to, as an event; null while there is nothing to tell. Throws as `openSession`. */
  readSession(sessionId: string): Promise<PaymentEvent | null>;
  /**
   * The event in a message that claims to be the provider's, its bytes as they came; null when it tells nothing we
   * want to know. Throws InvalidInput for a message the provider did not sign, or signed too long ago.
   */
  readMessage(bytes: Uint8Array, signature: string | null): Promise<PaymentEvent | null>;
  /** What the provider told everyone since an instant, newest first. Throws as `openSession`. */
  listEvents(since: Date): AsyncIterable<PaymentEvent>;
}
