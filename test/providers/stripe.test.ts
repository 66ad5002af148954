import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { InvalidInput, Unavailable, UpstreamFailed } from '../../src/domain/errors.ts';
import { Secret } from '../../src/domain/secret.ts';
import { EVENT_TYPES, paymentEventOf } from '../../src/providers/stripe/events.ts';
import { createStripe, type StripeAccount } from '../../src/providers/stripe/stripe.ts';
import { type FakeStripe, startFakeStripe } from '../support/fake-stripe.ts';

let stripe: FakeStripe;
beforeAll(async () => {
  stripe = await startFakeStripe();
});
afterEach(() => stripe.fail(null));
afterAll(() => stripe.stop());

const stripeSeller = (overrides: Partial<StripeAccount> = {}) =>
  createStripe({
    secretKey: new Secret(stripe.secretKey),
    webhookSecret: new Secret(stripe.webhookSecret),
    priceId: 'price_1',
    mode: 'payment',
    apiBase: stripe.url,
    ...overrides,
  });

const DRAFT = { checkoutId: 'checkout-1', successUrl: 'https://x.example/s', cancelUrl: 'https://x.example/c' };
const MARK = { lensgate_checkout: 'checkout-1' };

/** Fact, subject, objects, session id and checkout id of an event about `object`. Null for an event without a fact. */
function factAndIds(type: string, object: object) {
  const event = paymentEventOf({ id: 'evt_1', object: 'event', type, created: 7, data: { object } });
  return event && [event.fact, event.subject, event.objects.join(' '), event.sessionId, event.checkoutId];
}

describe('an event of Stripe', () => {
  it('is read with all its ids', () => {
    const object = {
      id: 'cs_1',
      object: 'checkout.session',
      status: 'complete',
      payment_status: 'paid',
      payment_intent: 'pi_1',
      metadata: MARK,
    };
    expect(
      paymentEventOf({ id: 'evt_1', type: 'checkout.session.completed', created: 1_700_000_000, data: { object } }),
    ).toEqual({
      id: 'evt_1',
      fact: 'paid',
      at: new Date(1_700_000_000_000),
      subject: 'cs_1',
      objects: ['cs_1', 'pi_1'],
      sessionId: 'cs_1',
      checkoutId: 'checkout-1',
    });
  });

  const session = { id: 'cs_1', object: 'checkout.session', status: 'complete' };
  it.each([
    ['checkout.session.completed', { ...session, payment_status: 'unpaid' }, 'processing'],
    ['checkout.session.completed', { ...session, payment_status: 'no_payment_required' }, 'paid'],
    ['checkout.session.async_payment_succeeded', session, 'paid'],
    ['checkout.session.async_payment_failed', session, 'payment_failed'],
    ['checkout.session.expired', { ...session, status: 'expired' }, 'expired'],
  ])('%s of %j gives %s', (type, object, fact) => {
    expect(factAndIds(type, object)?.[0]).toBe(fact);
  });

  it.each([
    ['needs_response', 'disputed'],
    ['under_review', 'disputed'],
    ['lost', 'disputed'],
    ['won', 'dispute_settled'],
    ['warning_needs_response', 'dispute_settled'],
    ['of_next_year', undefined],
    ['__proto__', undefined],
  ])('with the dispute status "%s" gives the fact %s', (status, fact) => {
    const dispute = { id: 'dp_1', object: 'dispute', status, charge: 'ch_1', payment_intent: 'pi_1' };
    expect(factAndIds('charge.dispute.updated', dispute)?.[0]).toBe(fact);
  });

  it.each([
    ['active', 'subscription_active'],
    ['trialing', 'subscription_active'],
    ['past_due', 'subscription_active'],
    ['unpaid', 'subscription_suspended'],
    ['paused', 'subscription_suspended'],
    ['canceled', 'subscription_ended'],
    ['incomplete', undefined],
  ])('with the subscription status "%s" gives the fact %s', (status, fact) => {
    expect(factAndIds('customer.subscription.updated', { id: 'sub_1', status })?.[0]).toBe(fact);
  });

  it('has the ids of its purchase in the current API version and in earlier ones', () => {
    const details = { subscription: 'sub_1', metadata: MARK };
    const parent = { subscription_details: details };
    expect(factAndIds('invoice.paid', { id: 'in_1', parent })).toEqual([
      'paid',
      'in_1',
      'in_1 sub_1',
      null,
      'checkout-1',
    ]);
    const earlierInvoice = {
      id: 'in_1',
      subscription: 'sub_1',
      payment_intent: { id: 'pi_1' },
      subscription_details: { metadata: MARK },
    };
    expect(factAndIds('invoice.paid', earlierInvoice)).toEqual(['paid', 'in_1', 'in_1 pi_1 sub_1', null, 'checkout-1']);
    const refunded = { id: 'ch_1', refunded: true, payment_intent: 'pi_1', invoice: 'in_1', metadata: MARK };
    expect(factAndIds('charge.refunded', refunded)).toEqual(['refunded', 'ch_1', 'ch_1 pi_1 in_1', null, 'checkout-1']);
    const payment = { payment_intent: 'pi_1' };
    expect(factAndIds('invoice_payment.paid', { id: 'inpay_1', invoice: 'in_1', payment })).toEqual([
      'linked',
      'inpay_1',
      'inpay_1 in_1 pi_1',
      null,
      null,
    ]);
  });

  it('has no checkout id from fields that a buyer can set', () => {
    const bought = { ...session, payment_status: 'paid', client_reference_id: 'checkout-1' };
    expect(factAndIds('checkout.session.completed', bought)?.at(-1)).toBeNull();
  });

  it.each([
    null,
    'text',
    7,
    [],
    {},
    { type: 'charge.refunded' },
    { id: 'e', type: 'charge.refunded', data: null },
    { id: 'e', type: '__proto__', data: {} },
  ])('is read as null when it is %j', (event) => {
    expect(paymentEventOf(event)).toBeNull();
  });

  it.each([
    ['charge.refunded', { id: 'ch_1', refunded: false }],
    ['charge.refunded', { refunded: true }],
    ['customer.created', { id: 'cus_1' }],
  ])('%s of %j gives no fact', (type, object) => {
    expect(factAndIds(type, object)).toBeNull();
  });
});

describe('Stripe', () => {
  it('opens one session for repeated requests', async () => {
    const [first, second] = await Promise.all([stripeSeller().openSession(DRAFT), stripeSeller().openSession(DRAFT)]);
    expect(first).toEqual(second);
  });

  it('gives no fact for an open session, and the fact of its event for a paid one', async () => {
    const { id, url } = await stripeSeller().openSession({ ...DRAFT, checkoutId: 'checkout-2' });
    expect(await stripeSeller().readSession(id)).toBeNull();
    const event = paymentEventOf(stripe.pay(url));
    const readSession = await stripeSeller().readSession(id);
    // Only the id and the time differ from those of the event.
    expect({ ...readSession, id: event?.id, at: event?.at }).toEqual(event);
    expect(readSession?.id).toBe(`${id}:paid`);
  });

  it('lists relevant past events in pages', async () => {
    const since = 2_000_000_000;
    for (let number = 0; number < 250; number += 1) {
      stripe.createEvent('charge.refunded', { id: `ch_${number}`, refunded: true }, since + number);
      stripe.createEvent('customer.created', { id: `cus_${number}` }, since + number);
    }
    const listed: string[] = [];
    const requestsBefore = stripe.requests.length;
    for await (const { subject } of stripeSeller().listEvents(new Date((since + 5) * 1000))) listed.push(subject);
    expect(listed).toEqual(Array.from({ length: 245 }, (_, index) => `ch_${249 - index}`));
    // Pages have 100 events.
    expect(stripe.requests.length - requestsBefore).toBe(3);
    // Stripe accepts at most 20 event types in one request.
    expect(EVENT_TYPES.length).toBeLessThanOrEqual(20);
  });

  it('checks the signature of a message without an API key', async () => {
    const { Stripe } = await import('stripe');
    const payload = JSON.stringify(stripe.createEvent('charge.refunded', { id: 'ch_1', refunded: true }));
    const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret: stripe.webhookSecret });
    const bytes = new TextEncoder().encode(payload);
    expect(await stripeSeller({ secretKey: null }).readMessage(bytes, signature)).toMatchObject({ subject: 'ch_1' });
    // One valid signature of several is enough, because Stripe sends two while the secret is rotated.
    const foreignSignature = Stripe.webhooks.generateTestHeaderString({ payload, secret: 'whsec_old' });
    // A header is `t=…,v1=…`, with the signature at its end.
    const bothSignatures = `${foreignSignature},${signature.split(',').at(-1)}`;
    expect(await stripeSeller().readMessage(bytes, bothSignatures)).toMatchObject({ subject: 'ch_1' });
    await expect(stripeSeller().readMessage(bytes, foreignSignature)).rejects.toThrow(InvalidInput);
  });

  it('maps an error to UpstreamFailed, without the secret', async () => {
    const refused = await stripeSeller({ secretKey: new Secret('sk_test_wrong') })
      .openSession(DRAFT)
      .catch((error: unknown) => error);
    expect(refused).toEqual(
      new UpstreamFailed('Stripe refused the request (401, req_fake).', {
        provider: 'stripe',
        upstreamStatus: 401,
        upstreamType: 'StripeAuthenticationError',
      }),
    );
    expect(JSON.stringify([refused, (refused as Error).stack, (refused as Error).cause ?? null])).not.toContain(
      'sk_test_wrong',
    );
  });

  it.each([429, 500, 503])('is unavailable when it answers %s', async (status) => {
    stripe.fail({ status, error: { type: 'api_error', message: 'no' } });
    await expect(stripeSeller().readSession('cs_1')).rejects.toThrow(Unavailable);
  });

  it('is unavailable without a listener', async () => {
    await expect(stripeSeller({ apiBase: 'http://127.0.0.1:1' }).readSession('cs_1')).rejects.toThrow(Unavailable);
  });

  it('is not configured without a price or a secret key', async () => {
    expect([
      stripeSeller().configured,
      stripeSeller({ priceId: null }).configured,
      stripeSeller({ secretKey: null }).configured,
    ]).toEqual([true, false, false]);
    await expect(stripeSeller({ secretKey: null }).readSession('cs_1')).rejects.toMatchObject({
      retryAfterSeconds: null,
    });
  });
});

it('loads the library of Stripe at first use, not at the start of the process', async () => {
  const script = `
    import { registerHooks } from 'node:module';
    const loaded = [];
    registerHooks({ resolve(name, context, next) { loaded.push(name); return next(name, context); } });
    const { createStripe } = await import(${JSON.stringify(new URL('../../src/providers/stripe/stripe.ts', import.meta.url).href)});
    const stripe = createStripe({ secretKey: null, webhookSecret: { reveal: () => 'whsec' }, priceId: null, mode: 'payment', apiBase: null });
    const before = loaded.includes('stripe');
    await stripe.readMessage(new Uint8Array(), 'none').catch(() => {});
    console.log(before, loaded.includes('stripe'));
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
  expect(stdout).toBe('false true\n');
});
