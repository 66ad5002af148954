import type { PaymentEvent, PaymentFact } from '../../domain/checkout/payment-event.ts';

/** Under this name a checkout's id stands in the metadata of everything made for it. Buyers cannot write there. */
export const CHECKOUT_MARK = 'lensgate_checkout';

type Fields = Readonly<Record<string, unknown>>;

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);
/** An object is named by its id, or stands there whole when it was expanded. */
const idOf = (value: unknown): string | null => textOf(value) ?? textOf(fieldsOf(value)['id']);

/** Statuses of a subscription that say something; `incomplete` does not. Past due has its grace: Stripe tries again. */
const SUBSCRIPTIONS = new Map<unknown, PaymentFact>(
  Object.entries({
    active: 'subscription_active',
    trialing: 'subscription_active',
    past_due: 'subscription_active',
    paused: 'subscription_suspended',
    unpaid: 'subscription_suspended',
    canceled: 'subscription_ended',
    incomplete_expired: 'subscription_ended',
  }),
);

/** A dispute takes money or has taken it; a mere warning, and one that was won, does not. */
const DISPUTES = new Map<unknown, PaymentFact>(
  Object.entries({
    needs_response: 'disputed',
    under_review: 'disputed',
    appeal_needs_response: 'disputed',
    appeal_under_review: 'disputed',
    lost: 'disputed',
    won: 'dispute_settled',
    prevented: 'dispute_settled',
    warning_needs_response: 'dispute_settled',
    warning_under_review: 'dispute_settled',
    warning_closed: 'dispute_settled',
  }),
);

/** What a session says of its money. */
function sessionFact({ status, payment_status: payment }: Fields): PaymentFact | null {
  if (status === 'expired') return 'expired';
  if (status !== 'complete') return null;
  return payment === 'paid' || payment === 'no_payment_required' ? 'paid' : 'processing';
}

const subscriptionFact = ({ status }: Fields): PaymentFact | null => SUBSCRIPTIONS.get(status) ?? null;
const disputeFact = ({ status }: Fields): PaymentFact | null => DISPUTES.get(status) ?? null;

/** Every type of event we act on, and what its object then says. Any other is none of our business. */
const FACTS = new Map<unknown, (object: Fields) => PaymentFact | null>(
  Object.entries({
    'checkout.session.completed': sessionFact,
    'checkout.session.async_payment_succeeded': () => 'paid',
    'checkout.session.async_payment_failed': () => 'payment_failed',
    'checkout.session.expired': () => 'expired',
    'charge.refunded': ({ refunded }) => (refunded === true ? 'refunded' : null),
    'charge.dispute.created': disputeFact,
    'charge.dispute.updated': disputeFact,
    'charge.dispute.closed': disputeFact,
    'charge.dispute.funds_withdrawn': disputeFact,
    'charge.dispute.funds_reinstated': disputeFact,
    'customer.subscription.updated': subscriptionFact,
    'customer.subscription.paused': subscriptionFact,
    'customer.subscription.resumed': subscriptionFact,
    'customer.subscription.deleted': () => 'subscription_ended',
    'invoice.paid': () => 'paid',
    'invoice_payment.paid': () => 'linked',
  }),
);
/** The types to ask Stripe for; it takes twenty at most. */
export const EVENT_TYPES: readonly string[] = [...FACTS.keys()].map(String);

/** Where objects name the others of their purchase, in the present form of the API and in earlier ones. */
function objectsOf(object: Fields): readonly string[] {
  const parent = fieldsOf(fieldsOf(object['parent'])['subscription_details']);
  const payment = fieldsOf(object['payment']);
  const named = [
    object['id'],
    object['payment_intent'],
    object['charge'],
    object['subscription'],
    object['invoice'],
    parent['subscription'],
    payment['payment_intent'],
    payment['charge'],
  ].map(idOf);
  return [...new Set(named.flatMap((id) => id ?? []))];
}

/** The checkout we wrote on an object, or on what the object copies it from. */
function checkoutOf(object: Fields): string | null {
  const details = ['parent', 'subscription_details'].map((name) => fieldsOf(object[name]));
  const sources = [object, ...details, ...details.map((detail) => fieldsOf(detail['subscription_details']))];
  return sources.map(({ metadata }) => textOf(fieldsOf(metadata)[CHECKOUT_MARK])).find((id) => id !== null) ?? null;
}

function eventOf(about: { id: string; fact: PaymentFact; seconds: unknown }, object: Fields): PaymentEvent | null {
  const subject = idOf(object);
  const at = new Date(Number(about.seconds) * 1000);
  if (subject === null || Number.isNaN(at.getTime())) return null;
  return {
    id: about.id,
    fact: about.fact,
    at,
    subject,
    objects: objectsOf(object),
    sessionId: object['object'] === 'checkout.session' ? subject : null,
    checkoutId: checkoutOf(object),
  };
}

/** What one of Stripe's events tells; null when it is nothing we act on. */
export function paymentEventOf(event: unknown): PaymentEvent | null {
  const { id, type, created, data } = fieldsOf(event);
  const object = fieldsOf(fieldsOf(data)['object']);
  const fact = FACTS.get(type)?.(object) ?? null;
  const name = textOf(id);
  return fact === null || name === null ? null : eventOf({ id: name, fact, seconds: created }, object);
}

/** What a session that was asked for tells; null while it is open. It came true when the session was made, or later. */
export function sessionEventOf(session: unknown): PaymentEvent | null {
  const object = fieldsOf(session);
  const fact = sessionFact(object);
  return fact === null ? null : eventOf({ id: `${idOf(object)}:${fact}`, fact, seconds: object['created'] }, object);
}
