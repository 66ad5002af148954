import { isJsonObject, type JsonObject } from '../../domain/json-object.ts';
import type { PaymentEvent, PaymentFact } from '../../domain/checkout/payment-event.ts';

/** Metadata key of the checkout id, on a session and on its payment or subscription. Buyers cannot write metadata. */
export const CHECKOUT_METADATA_KEY = 'lensgate_checkout';

const fieldsOf = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});
const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);
/** Id of an object, given as id or as expanded object. */
const idOf = (value: unknown): string | null => textOf(value) ?? textOf(fieldsOf(value)['id']);

/** Facts by subscription status. `incomplete` has none. `past_due` is active, because Stripe retries the payment. */
const SUBSCRIPTION_FACTS = new Map<unknown, PaymentFact>(
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

/** Facts by dispute status. Open and lost disputes withdraw money. Warnings and won disputes do not. */
const DISPUTE_FACTS = new Map<unknown, PaymentFact>(
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

/** Payment fact of a checkout session. Null while it is open. */
function sessionFact({ status, payment_status: paymentStatus }: JsonObject): PaymentFact | null {
  if (status === 'expired') return 'expired';
  if (status !== 'complete') return null;
  return paymentStatus === 'paid' || paymentStatus === 'no_payment_required' ? 'paid' : 'processing';
}

const subscriptionFact = ({ status }: JsonObject): PaymentFact | null => SUBSCRIPTION_FACTS.get(status) ?? null;
const disputeFact = ({ status }: JsonObject): PaymentFact | null => DISPUTE_FACTS.get(status) ?? null;

/** Handled event types, with the function that reads the fact from the object of the event. */
const FACTS = new Map<unknown, (object: JsonObject) => PaymentFact | null>(
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
/** Handled event types, for the filter of Stripe's event list. Stripe accepts at most 20. */
export const EVENT_TYPES: readonly string[] = [...FACTS.keys()].map(String);

/** Ids of the Stripe objects of one purchase, from the current and earlier forms of the API. */
function objectIdsOf(object: JsonObject): readonly string[] {
  const subscriptionDetails = fieldsOf(fieldsOf(object['parent'])['subscription_details']);
  const payment = fieldsOf(object['payment']);
  const ids = [
    object['id'],
    object['payment_intent'],
    object['charge'],
    object['subscription'],
    object['invoice'],
    subscriptionDetails['subscription'],
    payment['payment_intent'],
    payment['charge'],
  ].map(idOf);
  return [...new Set(ids.flatMap((id) => id ?? []))];
}

/** Checkout id in the metadata of an object, its parent or its subscription. Null when there is none. */
function checkoutIdOf(object: JsonObject): string | null {
  const parent = fieldsOf(object['parent']);
  const subscriptions = [object, parent].map((one) => fieldsOf(one['subscription_details']));
  const ids = [object, parent, ...subscriptions].map(({ metadata }) =>
    textOf(fieldsOf(metadata)[CHECKOUT_METADATA_KEY]),
  );
  return ids.find((id) => id !== null) ?? null;
}

function eventOf(source: { id: string; fact: PaymentFact; seconds: unknown }, object: JsonObject): PaymentEvent | null {
  const subject = idOf(object);
  const at = new Date(Number(source.seconds) * 1000);
  if (subject === null || Number.isNaN(at.getTime())) return null;
  return {
    id: source.id,
    fact: source.fact,
    at,
    subject,
    objects: objectIdsOf(object),
    sessionId: object['object'] === 'checkout.session' ? subject : null,
    checkoutId: checkoutIdOf(object),
  };
}

/** Payment event for a Stripe event. Null when it is not handled. */
export function paymentEventOf(event: unknown): PaymentEvent | null {
  const { id, type, created, data } = fieldsOf(event);
  const object = fieldsOf(fieldsOf(data)['object']);
  const fact = FACTS.get(type)?.(object) ?? null;
  const eventId = textOf(id);
  return fact === null || eventId === null ? null : eventOf({ id: eventId, fact, seconds: created }, object);
}

/** Payment event for a retrieved session. Null while it is open. Its time is the creation of the session. */
export function sessionEventOf(session: unknown): PaymentEvent | null {
  const object = fieldsOf(session);
  const fact = sessionFact(object);
  return fact === null ? null : eventOf({ id: `${idOf(object)}:${fact}`, fact, seconds: object['created'] }, object);
}
