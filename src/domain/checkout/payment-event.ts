/** Kinds of payment events that are used. All others are ignored. */
const PAYMENT_FACTS = [
  /** Paid, or nothing was due. */
  'paid',
  /** The buyer has completed the session; the payment is pending. */
  'processing',
  'payment_failed',
  'expired',
  /** Refunded in full. A partial refund changes nothing. */
  'refunded',
  'disputed',
  'dispute_settled',
  'subscription_active',
  'subscription_suspended',
  'subscription_ended',
  /** Only connects objects of the provider. */
  'linked',
] as const;
export type PaymentFact = (typeof PAYMENT_FACTS)[number];

/** One event of a payment provider. Events may be repeated and come in any order. */
export interface PaymentEvent {
  /** The provider's event id: two events with one id are one event. */
  readonly id: string;
  readonly fact: PaymentFact;
  /** Time of the event by the provider's clock, which counts whole seconds. */
  readonly at: Date;
  /** Id of the object that the event is about: a session, a payment, a dispute, a subscription. */
  readonly subject: string;
  /** Ids of all objects that the event names, with the subject. They connect a refund with its purchase. */
  readonly objects: readonly string[];
  /** Id of the session that the event is about; null where it is about another object. */
  readonly sessionId: string | null;
  /** The checkout id in the object's metadata; null where it has none. */
  readonly checkoutId: string | null;
}

/** State of a purchase. Only `paid` entitles to a key. */
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

/** State of a purchase by its events. */
export interface StateByEvents {
  readonly state: CheckoutState;
  /** Time of the newest payment; null before the first. */
  readonly paidAt: Date | null;
}

type DatedFact = Pick<PaymentEvent, 'fact' | 'at' | 'subject'>;

/** Strictness of a fact. Of two events of one object in the same second, the stricter one applies. */
const STRICTNESS: Partial<Record<PaymentFact, number>> = { disputed: 1, subscription_suspended: 1 };
const strictness = ({ fact }: DatedFact): number => STRICTNESS[fact] ?? 0;

/** Of two facts of one object, the one that applies. */
function newer(left: DatedFact, right: DatedFact): DatedFact {
  const [leftMs, rightMs] = [left.at.getTime(), right.at.getTime()];
  if (leftMs !== rightMs) return leftMs > rightMs ? left : right;
  return strictness(left) >= strictness(right) ? left : right;
}

/** The latest of the `facts` for each object. */
function latestOf(events: readonly DatedFact[], facts: readonly PaymentFact[]): readonly PaymentFact[] {
  const latest = new Map<string, DatedFact>();
  for (const event of events) {
    if (!facts.includes(event.fact)) continue;
    const known = latest.get(event.subject);
    latest.set(event.subject, known === undefined ? event : newer(event, known));
  }
  return [...latest.values()].map(({ fact }) => fact);
}

/** Time of the latest event with a fact, in Unix ms; -Infinity for none. */
const lastMs = (events: readonly DatedFact[], fact: PaymentFact): number =>
  Math.max(...events.filter((event) => event.fact === fact).map(({ at }) => at.getTime()), -Infinity);

function stateOf(events: readonly DatedFact[], paidMs: number): CheckoutState {
  const has = (fact: PaymentFact): boolean => events.some((event) => event.fact === fact);
  if (paidMs === -Infinity) {
    if (has('payment_failed')) return 'payment_failed';
    if (has('expired')) return 'expired';
    return has('processing') ? 'processing' : 'open';
  }
  if (has('subscription_ended')) return 'ended';
  // A payment after the refund, such as the next period of a subscription, makes the purchase paid again.
  if (lastMs(events, 'refunded') >= paidMs) return 'refunded';
  if (latestOf(events, ['disputed', 'dispute_settled']).includes('disputed')) return 'disputed';
  const subscriptions = latestOf(events, ['subscription_active', 'subscription_suspended']);
  return subscriptions.includes('subscription_suspended') ? 'suspended' : 'paid';
}

/**
 * The state of a purchase after these events. It depends on the set of events only, not on their order or repetition,
 * so late, repeated and reordered events are harmless.
 */
export function stateByEvents(events: readonly DatedFact[]): StateByEvents {
  const paidMs = lastMs(events, 'paid');
  return { state: stateOf(events, paidMs), paidAt: paidMs === -Infinity ? null : new Date(paidMs) };
}
