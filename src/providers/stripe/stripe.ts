import type { Stripe } from 'stripe';
import { InvalidInput, Unavailable } from '../../domain/errors.ts';
import type { CheckoutMode, PaymentProvider, SessionDraft } from '../../domain/checkout/payments.ts';
import type { Secret } from '../../domain/secret.ts';
import { CHECKOUT_MARK, EVENT_TYPES, paymentEventOf, sessionEventOf } from './events.ts';
import { stripeFailure } from './failures.ts';

/** What Stripe is spoken to with. */
export interface StripeAccount {
  readonly secretKey: Secret | null;
  readonly webhookSecret: Secret | null;
  readonly priceId: string | null;
  readonly mode: CheckoutMode;
  /** Address of the API; null for Stripe's own. */
  readonly apiBase: string | null;
}

/** One try, and all tries of one question with the pauses between them. */
const TRY_MS = 10_000;
const ANSWER_MS = 25_000;
const RETRIES = 2;
/** Older messages could be somebody's replay. */
const TOLERANCE_SECONDS = 300;
const PAGE = 100;

/** Waiting does not help where something has to be set first. */
const unset = (names: readonly string[]): Unavailable =>
  new Unavailable(
    `Access is not for sale here: ${names.join(' and ')} ${names.length > 1 ? 'are' : 'is'} not set.`,
    null,
  );

function clientOptions(apiBase: string | null) {
  const bounds = { timeout: TRY_MS, maxNetworkRetries: RETRIES, telemetry: false };
  if (apiBase === null) return bounds;
  const { protocol, hostname, port } = new URL(apiBase);
  const plain = protocol === 'http:';
  return {
    ...bounds,
    protocol: plain ? ('http' as const) : ('https' as const),
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (plain ? 80 : 443) : port,
  };
}

/** Sells through Stripe. Its library is loaded when it is first needed: a start does not pay for it. */
export function createStripe(account: StripeAccount): PaymentProvider {
  const { secretKey, webhookSecret, priceId, mode } = account;
  let client: Promise<Stripe> | null = null;
  const library = () => import('stripe').then((module) => module.Stripe);

  function connected(): Promise<Stripe> {
    if (secretKey === null) throw unset(['STRIPE_SECRET_KEY', ...(priceId === null ? ['STRIPE_PRICE_ID'] : [])]);
    return (client ??= library().then((Library) => new Library(secretKey.reveal(), clientOptions(account.apiBase))));
  }

  /** Asks within the time there is; the library itself would wait as long as Stripe tells it to. */
  async function ask<Answer>(question: (stripe: Stripe) => Promise<Answer>): Promise<Answer> {
    const stripe = await connected();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Unavailable('Stripe does not answer in time.', 5)), ANSWER_MS);
    });
    try {
      return await Promise.race([question(stripe), late]);
    } catch (error) {
      throw error instanceof Unavailable ? error : stripeFailure(error);
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    mode,
    configured: secretKey !== null && priceId !== null,
    async openSession(draft) {
      if (secretKey !== null && priceId === null) throw unset(['STRIPE_PRICE_ID']);
      const { id, url } = await ask((stripe) =>
        stripe.checkout.sessions.create(sessionOf(draft, mode, priceId ?? ''), { idempotencyKey: draft.checkoutId }),
      );
      if (url === null) throw new Unavailable('Stripe opened a session without a page.', 5);
      return { id, url };
    },
    readSession: async (id) => sessionEventOf(await ask((stripe) => stripe.checkout.sessions.retrieve(id))),
    async readMessage(bytes, signature) {
      if (webhookSecret === null) throw unset(['STRIPE_WEBHOOK_SECRET']);
      if (signature === null) throw new InvalidInput('The Stripe-Signature header is missing.');
      const { webhooks, errors } = await library();
      try {
        return paymentEventOf(
          webhooks.constructEvent(Buffer.from(bytes), signature, webhookSecret.reveal(), TOLERANCE_SECONDS),
        );
      } catch (error) {
        if (!(error instanceof errors.StripeSignatureVerificationError))
          throw new InvalidInput('The message is signed, but it is no event.');
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
        const page = await ask((stripe) =>
          stripe.events.list({
            types: [...EVENT_TYPES],
            created,
            limit: PAGE,
            ...(after === undefined ? {} : { starting_after: after }),
          }),
        );
        for (const event of page.data) {
          const told = paymentEventOf(event);
          if (told !== null) yield told;
        }
        after = page.data.at(-1)?.id;
        if (!page.has_more || after === undefined) return;
      }
    },
  };
}

/** Our id stands on the session, and on what the session makes: a refund names the payment, not the session. */
function sessionOf({ checkoutId, successUrl, cancelUrl }: SessionDraft, mode: CheckoutMode, price: string) {
  const metadata = { [CHECKOUT_MARK]: checkoutId };
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
