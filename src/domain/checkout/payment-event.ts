/** What a payment provider can tell about a purchase. Everything else it tells is none of our business. */
const PAYMENT_FACTS = [
  /** Money came, or none was asked for. */
  'paid',
  /** The buyer is through, the money is on its way. */
  'processing',
  'payment_failed',
  'expired',
  /** All of a payment went back; a part of it changes nothing. */
  'refunded',
  'disputed',
  'dispute_settled',
  'subscription_active',
  'subscription_suspended',
  'subscription_ended',
  /** Only says which of the provider's objects belong together. */
  'linked',
] as const;
export type PaymentFact = (typeof PAYMENT_FACTS)[number];

/** One thing a payment provider told, once or more often, in any order. */
export interface PaymentEvent {
  /** The provider's id of it: two events with one id are one event. */
  readonly id: string;
  readonly fact: PaymentFact;
  /** When it came true, by the provider's clock, which counts seconds. */
  readonly at: Date;
  /** The object it is about: a session, a payment, a dispute, a subscription. */
  readonly subject: string;
  /** Every object it names, the subject among them: the thread from a refund back to its purchase. */
  readonly objects: readonly string[];
  /** The session it is about; null for everything else. */
  readonly sessionId: string | null;
  /** The purchase it belongs to, where we wrote that on the object ourselves. */
  readonly checkoutId: string | null;
}

/** Where a purchase stands. Only `paid` opens anything. */
const CHECKOUT_STATES = [
  'open',
  'processing',
  'paid',
  'payment_failed',
  'expired',
  'refunded',
  'disputed',
  'suspended',
  'ended',
] as const;
export type CheckoutState = (typeof CHECKOUT_STATES)[number];

/** What the events of a purchase come to. */
export interface Standing {
  readonly state: CheckoutState;
  /** The newest payment; null before the first. */
  readonly paidAt: Date | null;
}

type Told = Pick<PaymentEvent, 'fact' | 'at' | 'subject'>;

/** How strict a fact is: of two things said about one object in one second, the stricter holds. */
const STRICTNESS: Partial<Record<PaymentFact, number>> = { disputed: 1, subscription_suspended: 1 };
const strictness = ({ fact }: Told): number => STRICTNESS[fact] ?? 0;

function newer(left: Told, right: Told): Told {
  const apart = left.at.getTime() - right.at.getTime() || strictness(left) - strictness(right);
  return apart >= 0 ? left : right;
}

/** What was said last about each object, of the facts named. */
function latestOf(events: readonly Told[], facts: readonly PaymentFact[]): readonly PaymentFact[] {
  const latest = new Map<string, Told>();
  for (const event of events) {
    if (!facts.includes(event.fact)) continue;
    const known = latest.get(event.subject);
    latest.set(event.subject, known === undefined ? event : newer(event, known));
  }
  return [...latest.values()].map(({ fact }) => fact);
}

const lastMs = (events: readonly Told[], fact: PaymentFact): number =>
  Math.max(...events.filter((event) => event.fact === fact).map(({ at }) => at.getTime()), -Infinity);

function stateOf(events: readonly Told[], paidMs: number): CheckoutState {
  const told = (fact: PaymentFact): boolean => events.some((event) => event.fact === fact);
  if (paidMs === -Infinity) {
    if (told('payment_failed')) return 'payment_failed';
    if (told('expired')) return 'expired';
    return told('processing') ? 'processing' : 'open';
  }
  if (told('subscription_ended')) return 'ended';
  // A payment after the refund, as the next period of a subscription, opens again.
  if (lastMs(events, 'refunded') >= paidMs) return 'refunded';
  if (latestOf(events, ['disputed', 'dispute_settled']).includes('disputed')) return 'disputed';
  const subscriptions = latestOf(events, ['subscription_active', 'subscription_suspended']);
  return subscriptions.includes('subscription_suspended') ? 'suspended' : 'paid';
}

/**
 * Where a purchase stands after these events. It depends on which events there are, never on the order or the
 * number of times they came: that is what makes late, repeated and overtaking events harmless.
 */
export function standingOf(events: readonly Told[]): Standing {
  const paidMs = lastMs(events, 'paid');
  return { state: stateOf(events, paidMs), paidAt: paidMs === -Infinity ? null : new Date(paidMs) };
}
