import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FakeStripe, startFakeStripe } from '../../support/fake-stripe.ts';
import { startApp, type TestApp } from '../../support/start-app.ts';

let stripe: FakeStripe;
let app: TestApp;

beforeAll(async () => {
  stripe = await startFakeStripe();
  app = await startApp({ env: stripe.env });
});
beforeEach(() => stripe.fail(null));
afterAll(async () => {
  await app.stop();
  await stripe.stop();
});

const begin = (target: TestApp = app, init: RequestInit = {}): Promise<Response> =>
  fetch(`${target.url}/billing/checkout`, { method: 'POST', ...init });

async function read(response: Response) {
  return {
    status: response.status,
    type: response.headers.get('content-type'),
    retryAfter: response.headers.get('retry-after'),
    body: await response.json(),
  };
}

/** Last request to Stripe. */
function lastRequest(): FakeStripe['requests'][number] {
  const call = stripe.requests.at(-1);
  if (call === undefined) throw new Error('Stripe received no request.');
  return call;
}

const json = (status: number, body: unknown, retryAfter: string | null = null) => ({
  status,
  type: 'application/json',
  retryAfter,
  body,
});

describe('checkout.create', () => {
  it('checkout.create 200: the address of the payment; the request to Stripe has an idempotency key', async () => {
    const answer = await begin();
    const { url } = (await answer.clone().json()) as { url: string };
    expect(await read(answer)).toEqual(json(200, { url }));
    const { id } = stripe.sessionAt(url);
    const { headers, form } = lastRequest();
    const checkoutId = form['client_reference_id'];
    expect(checkoutId).toMatch(/^[\da-f-]{36}$/);
    expect(headers['idempotency-key']).toBe(checkoutId);
    expect(form).toEqual({
      mode: 'payment',
      'line_items[0][price]': 'price_1',
      'line_items[0][quantity]': '1',
      success_url: expect.stringMatching(
        new RegExp(`^${app.url}/billing/success\\?checkout=${checkoutId}&secret=[\\w-]{32}$`),
      ),
      cancel_url: `${app.url}/billing/cancelled`,
      client_reference_id: checkoutId,
      'metadata[lensgate_checkout]': checkoutId,
      'payment_intent_data[metadata][lensgate_checkout]': checkoutId,
    });
    expect(id).toMatch(/^cs_test_/);
  });

  it('checkout.create 200: ignores the body', async () => {
    expect(
      (await begin(app, { body: '{"price":"price_free"', headers: { 'content-type': 'text/plain' } })).status,
    ).toBe(200);
    expect(lastRequest().form['line_items[0][price]']).toBe('price_1');
  });

  it('checkout.create 200: forwarded host headers do not change the return address with its secret', async () => {
    await begin(app, { headers: { 'x-forwarded-host': 'evil.example', forwarded: 'host=evil.example' } });
    expect(lastRequest().form['success_url']).toContain(`${app.url}/billing/success`);
  });

  it('checkout.create 200: a subscription, with the buyer sent back to the configured address', async () => {
    const env = { ...stripe.env, STRIPE_MODE: 'subscription', PROXY_BASE_URL: 'https://prices.example/gate/' };
    const subscriptionApp = await startApp({ env });
    expect((await begin(subscriptionApp)).status).toBe(200);
    const { form } = lastRequest();
    expect(form).toMatchObject({
      mode: 'subscription',
      cancel_url: 'https://prices.example/gate/billing/cancelled',
      'subscription_data[metadata][lensgate_checkout]': form['client_reference_id'],
    });
    await subscriptionApp.stop();
  });

  it('checkout.create 413: a body above the size limit', async () => {
    const detail = 'Request size is too large. Request size is 1.5 MB. Max size is 1 MB';
    expect(await read(await begin(app, { body: 'x'.repeat(1.5 * 1024 * 1024) }))).toEqual(json(413, { detail }));
  });

  it('checkout.create 429: more than sixty checkouts an hour from one address, in spite of forwarded headers', async () => {
    const newApp = await startApp({ env: stripe.env });
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, index) => begin(newApp, { headers: { 'x-forwarded-for': `192.0.2.${index}` } })),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const requests = stripe.requests.length;
    const { retryAfter, ...refused } = await read(await begin(newApp));
    const detail = 'Too many checkouts from your address. Try again later.';
    expect(refused).toEqual({ status: 429, type: 'application/json', body: { detail } });
    expect(Number(retryAfter)).toBeGreaterThan(3_000);
    expect(stripe.requests.length).toBe(requests);
    await newApp.stop();
  });

  it("checkout.create 502: the answer has the codes of Stripe's refusal, but no message and no secret key", async () => {
    const error = {
      type: 'invalid_request_error',
      code: 'resource_missing',
      param: 'line_items[0][price]',
      message: `No price, ${stripe.secretKey}`,
    };
    stripe.fail({ status: 400, error });
    const detail = 'Stripe refused the request (400, resource_missing, line_items[0][price], req_fake).';
    expect(await read(await begin())).toEqual(json(502, { detail }));
  });

  it.each([401, 403])('checkout.create 502: Stripe answers %s', async (status) => {
    stripe.fail({ status, error: { type: 'invalid_request_error', message: `Invalid API Key: ${stripe.secretKey}` } });
    expect(await read(await begin())).toEqual(
      json(502, { detail: `Stripe refused the request (${status}, req_fake).` }),
    );
  });

  it.each([429, 500])('checkout.create 503: Stripe answers %s', async (status) => {
    stripe.fail({ status, error: { type: 'api_error', message: 'later' } });
    expect(await read(await begin())).toEqual(
      json(503, { detail: `Stripe is unavailable at the moment (${status}, req_fake).` }, '5'),
    );
  });

  it('checkout.create 503: Stripe cuts the connection', async () => {
    stripe.fail('cut');
    const { status, body } = await read(await begin());
    expect([status, body]).toEqual([
      503,
      { detail: expect.stringMatching(/^Stripe is unavailable at the moment \(StripeConnectionError/) },
    ]);
  });

  it.each([
    [{}, 'STRIPE_SECRET_KEY and STRIPE_PRICE_ID are'],
    [{ STRIPE_SECRET_KEY: 'sk_test_1' }, 'STRIPE_PRICE_ID is'],
    [{ STRIPE_PRICE_ID: 'price_1' }, 'STRIPE_SECRET_KEY is'],
  ])('checkout.create 503: names the missing setting: %j', async (env, subjectAndVerb) => {
    const incompleteApp = await startApp({ env: { STRIPE_RECONCILE_SECONDS: '0', ...env } });
    const detail = `Checkout is not configured: ${subjectAndVerb} not set.`;
    expect(await read(await begin(incompleteApp))).toEqual(json(503, { detail }));
    await incompleteApp.stop();
  });

  it.each(['GET', 'PUT', 'HEAD', 'DELETE'])('405: the method %s', async (method) => {
    const answer = await fetch(`${app.url}/billing/checkout`, { method });
    expect([answer.status, answer.headers.get('allow'), await answer.text()]).toEqual([
      405,
      'POST',
      method === 'HEAD' ? '' : '{"detail":"Method Not Allowed"}',
    ]);
  });
});

describe('checkout.webhook', () => {
  const event = () => stripe.createEvent('charge.refunded', { id: 'ch_1', object: 'charge', refunded: true });

  it('checkout.webhook 200: accepts an event that is delivered several times', async () => {
    const stripeEvent = event();
    for (let times = 0; times < 3; times += 1)
      expect(await read(await stripe.deliver(app.url, stripeEvent))).toEqual(json(200, { received: true }));
  });

  it.each(['customer.created', 'checkout.session.completed', 'something.new'])(
    'checkout.webhook 200: %s without relevant content is ignored',
    async (type) => {
      expect(await read(await stripe.deliver(app.url, stripe.createEvent(type, { id: 'x_1', object: 'x' })))).toEqual(
        json(200, { received: true }),
      );
    },
  );

  const STALE_SIGNATURE = 'The signature is older than 300 seconds.';
  const WRONG_SIGNATURE = 'The signature does not belong to these bytes.';
  const seconds = () => Math.floor(Date.now() / 1000);
  it.each([
    ['no signature', () => ({ signature: null }), 'The Stripe-Signature header is missing.'],
    ['a malformed signature', () => ({ signature: 'v1=abc' }), WRONG_SIGNATURE],
    ['a signature of another secret', () => ({ secret: 'whsec_other' }), WRONG_SIGNATURE],
    ['a stale timestamp', () => ({ timestamp: seconds() - 302 }), STALE_SIGNATURE],
    ['a changed body', () => ({ body: '{"id":"evt_forged"}' }), WRONG_SIGNATURE],
    ['an empty body', () => ({ body: '' }), WRONG_SIGNATURE],
  ])('checkout.webhook 400: %s', async (_name, overrides, detail) => {
    expect(await read(await stripe.deliver(app.url, event(), overrides()))).toEqual(json(400, { detail }));
  });

  it('checkout.webhook 400: a body that was parsed and serialised again', async () => {
    const stripeEvent = event();
    const body = JSON.stringify(stripeEvent, null, 2);
    expect(await read(await stripe.deliver(app.url, stripeEvent, { body }))).toEqual(
      json(400, { detail: WRONG_SIGNATURE }),
    );
  });

  it('checkout.webhook 400: a valid signature over invalid JSON', async () => {
    const { Stripe } = await import('stripe');
    const payload = 'not json';
    const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret: stripe.webhookSecret });
    const answer = await stripe.deliver(app.url, event(), { body: payload, signature });
    expect(await read(answer)).toEqual(
      json(400, { detail: 'The signature is valid, but the message is not a Stripe event.' }),
    );
  });

  it('checkout.webhook 413: a body above the size limit', async () => {
    const body = 'x'.repeat(1.5 * 1024 * 1024);
    const detail = 'Request size is too large. Request size is 1.5 MB. Max size is 1 MB';
    expect(await read(await stripe.deliver(app.url, event(), { body }))).toEqual(json(413, { detail }));
  });

  it('checkout.webhook 503: names the missing setting', async () => {
    const unconfiguredApp = await startApp();
    const detail = 'Checkout is not configured: STRIPE_WEBHOOK_SECRET is not set.';
    expect(await read(await stripe.deliver(unconfiguredApp.url, event()))).toEqual(json(503, { detail }));
    await unconfiguredApp.stop();
  });

  it.each(['GET', 'HEAD'])('405: the method %s', async (method) => {
    const answer = await fetch(`${app.url}/billing/webhook`, { method });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST']);
  });
});
