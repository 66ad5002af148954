import type { Stripe } from 'stripe';
import { type DomainError, InvalidInput, Unavailable, UpstreamFailed } from '../../domain/errors.ts';
import type { CheckoutMode, PaymentProvider, SessionDraft } from '../../domain/checkout/payments.ts';
import type { Secret } from '../../domain/secret.ts';
import { withDeadline } from '../../domain/with-deadline.ts';
import { CHECKOUT_METADATA_KEY, EVENT_TYPES, paymentEventOf, sessionEventOf } from './events.ts';

/** Stripe settings. A null secret or price disables the operations that need it. */
export interface StripeAccount {
  readonly secretKey: Secret | null;
  readonly webhookSecret: Secret | null;
  readonly priceId: string | null;
  readonly mode: CheckoutMode;
  /** Address of the API; null for Stripe's own. */
  readonly apiBase: string | null;
}

/** Timeout of one attempt, in ms. */
const ATTEMPT_MS = 10_000;
/** Timeout of one operation with all retries and pauses, in ms. */
const OPERATION_MS = 25_000;
const RETRIES = 2;
/** Retry delay in errors for callers, in seconds. */
const RETRY_SECONDS = 5;
/** Maximum age of a webhook signature, in seconds. Older messages are rejected as replays. */
const TOLERANCE_SECONDS = 300;
const EVENTS_PER_PAGE = 100;

/** Error for missing settings. Has no retry delay, because a retry does not help. */
const missingSettings = (names: readonly string[]): Unavailable =>
  new Unavailable(
    `Checkout is not configured: ${names.join(' and ')} ${names.length > 1 ? 'are' : 'is'} not set.`,
    null,
  );

function clientOptions(apiBase: string | null) {
  const bounds = { timeout: ATTEMPT_MS, maxNetworkRetries: RETRIES, telemetry: false };
  if (apiBase === null) return bounds;
  const { protocol, hostname, port } = new URL(apiBase);
  const isHttp = protocol === 'http:';
  const defaultPort = isHttp ? 80 : 443;
  return {
    ...bounds,
    protocol: isHttp ? ('http' as const) : ('https' as const),
    // Without the brackets of an IPv6 address.
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? defaultPort : port,
  };
}

/** Payment provider for Stripe. Loads the library at first use, to keep the start fast. */
export function createStripe(account: StripeAccount): PaymentProvider {
  const { secretKey, webhookSecret, priceId, mode } = account;
  let client: Promise<Stripe> | null = null;
  const library = () => import('stripe').then((module) => module.Stripe);
  const missingNames = [
    ...(secretKey === null ? ['STRIPE_SECRET_KEY'] : []),
    ...(priceId === null ? ['STRIPE_PRICE_ID'] : []),
  ];

  function connectedClient(): Promise<Stripe> {
    if (secretKey === null) throw missingSettings(missingNames);
    client ??= library().then((Library) => new Library(secretKey.reveal(), clientOptions(account.apiBase)));
    return client;
  }

  /**
   * Runs an operation with a timeout for all attempts and pauses together. The timeout of Stripe's library is for one
   * attempt.
   */
  async function callStripe<Answer>(operation: (stripe: Stripe) => Promise<Answer>): Promise<Answer> {
    const stripe = await connectedClient();
    try {
      return await withDeadline(operation(stripe), OPERATION_MS, () => {
        throw new Unavailable(`Stripe did not answer within ${OPERATION_MS / 1_000} s.`, RETRY_SECONDS);
      });
    } catch (error) {
      throw error instanceof Unavailable ? error : stripeFailure(error);
    }
  }

  return {
    mode,
    configured: secretKey !== null && priceId !== null,
    async openSession(draft) {
      if (priceId === null) throw missingSettings(missingNames);
      const { id, url } = await callStripe((stripe) =>
        stripe.checkout.sessions.create(sessionOf(draft, mode, priceId), { idempotencyKey: draft.checkoutId }),
      );
      if (url === null) throw new Unavailable('Stripe returned a checkout session without a URL.', RETRY_SECONDS);
      return { id, url };
    },
    readSession: async (id) => sessionEventOf(await callStripe((stripe) => stripe.checkout.sessions.retrieve(id))),
    async readMessage(bytes, signature) {
      if (webhookSecret === null) throw missingSettings(['STRIPE_WEBHOOK_SECRET']);
      if (signature === null) throw new InvalidInput('The Stripe-Signature header is missing.');
      const { webhooks, errors } = await library();
      try {
        return paymentEventOf(
          webhooks.constructEvent(Buffer.from(bytes), signature, webhookSecret.reveal(), TOLERANCE_SECONDS),
        );
      } catch (error) {
        if (!(error instanceof errors.StripeSignatureVerificationError))
          throw new InvalidInput('The signature is valid, but the message is not a Stripe event.');
        throw new InvalidInput(
          error.message.startsWith('Timestamp outside')
            ? `The signature is older than ${TOLERANCE_SECONDS} seconds.`
            : 'The signature does not belong to these bytes.',
        );
      }
    },
    async *listEvents(since) {
      const created = { gte: Math.floor(since.getTime() / 1000) };
      let after: string | undefined;
      for (;;) {
        const page = await callStripe((stripe) =>
          stripe.events.list({
            types: [...EVENT_TYPES],
            created,
            limit: EVENTS_PER_PAGE,
            ...(after === undefined ? {} : { starting_after: after }),
          }),
        );
        for (const event of page.data) {
          const paymentEvent = paymentEventOf(event);
          if (paymentEvent !== null) yield paymentEvent;
        }
        after = page.data.at(-1)?.id;
        if (!page.has_more || after === undefined) return;
      }
    },
  };
}

/** Session parameters. The checkout id is also on the payment or subscription: refunds do not refer to the session. */
function sessionOf({ checkoutId, successUrl, cancelUrl }: SessionDraft, mode: CheckoutMode, price: string) {
  const metadata = { [CHECKOUT_METADATA_KEY]: checkoutId };
  return {
    mode,
    line_items: [{ price, quantity: 1 }],
    success_url: successUrl,
    cancel_url: cancelUrl,
    client_reference_id: checkoutId,
    metadata,
    ...(mode === 'payment' ? { payment_intent_data: { metadata } } : { subscription_data: { metadata } }),
  };
}

/** Form of Stripe's codes, parameter names and request ids. Other values are not copied into messages. */
const IDENTIFIER = /^[\w.[\]-]{1,80}$/;

/**
 * Domain error for an error of the Stripe SDK. Contains neither Stripe's message nor the error as cause: both may quote
 * the request with its key. Codes and request id lead an operator to the details at Stripe.
 */
export function stripeFailure(error: unknown): DomainError {
  const identifierIn = (name: string): string | null => {
    const value: unknown =
      typeof error === 'object' && error !== null && name in error ? Reflect.get(error, name) : null;
    return typeof value === 'string' && IDENTIFIER.test(value) ? value : null;
  };
  const statusCode: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, 'statusCode') : null;
  const status = typeof statusCode === 'number' ? statusCode : null;
  const [type, code, param, requestId] = ['type', 'code', 'param', 'requestId'].map(identifierIn);
  const facts = [status === null ? type : String(status), code, param, requestId].filter(Boolean).join(', ');
  if (status === null || status === 429 || status >= 500)
    return new Unavailable(`Stripe is unavailable at the moment (${facts}).`, RETRY_SECONDS);
  return new UpstreamFailed(`Stripe refused the request (${facts}).`, {
    provider: 'stripe',
    upstreamStatus: status,
    upstreamType: type ?? null,
    upstreamCode: code ?? null,
    upstreamParam: param ?? null,
  });
}
