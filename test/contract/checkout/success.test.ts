import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { beginPurchase, type BuyerVisit, headingOf, keyOn } from '../../support/buyer.ts';
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

const begin = (): Promise<BuyerVisit> => beginPurchase(app.url, stripe);

/** Begins and pays a purchase, and delivers its Stripe event. */
async function payPurchase(): Promise<BuyerVisit> {
  const visit = await begin();
  expect((await stripe.deliver(app.url, stripe.pay(visit.payUrl))).status).toBe(200);
  return visit;
}

async function page(url: string, headers: Record<string, string> = {}): Promise<string> {
  const answer = await fetch(url, { headers });
  expect(answer.status).toBe(200);
  return answer.text();
}

const replace = ({ checkoutId, secret }: Pick<BuyerVisit, 'checkoutId' | 'secret'>): Promise<Response> =>
  fetch(`${app.url}/billing/success`, {
    method: 'POST',
    body: new URLSearchParams({ checkout: checkoutId, secret }),
  });

/** Security and cache headers of the page. */
const GUARDS = {
  'cache-control': 'no-store',
  'content-security-policy': expect.stringMatching(
    /^default-src 'none'; style-src 'sha256-[\w+/=]{44}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
  ),
  'content-type': 'text/html; charset=utf-8',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex',
};

const PAGE_OF_A_KEY =
  /^<!doctype html>\n[\s\S]*<h1>Your catalog key<\/h1>\n<p><code>ck-[\w-]{32}<\/code><\/p>\n[\s\S]*<\/html>\n$/;

describe('checkout.success', () => {
  it('checkout.success 200: the key, once, on a page that is not cached and loads nothing', async () => {
    const visit = await payPurchase();
    const answer = await fetch(visit.successUrl);
    expect(Object.fromEntries(answer.headers)).toMatchObject(GUARDS);
    const first = await answer.text();
    expect(first).toMatch(PAGE_OF_A_KEY);
    expect(first).not.toMatch(/\b(src|href)=|@import|url\(/);
    const key = keyOn(first) ?? '';
    const second = await page(visit.successUrl);
    expect([keyOn(second), headingOf(second)]).toEqual([null, 'Your key has been shown']);
    expect(second).toContain(`ck-...${key.slice(-4)}`);
    expect(second).not.toContain(key);
  });

  it('checkout.success 200: the style of the page has the hash in its policy', async () => {
    const { createHash } = await import('node:crypto');
    const answer = await fetch((await begin()).successUrl);
    const style = /<style>([\s\S]*)<\/style>/.exec(await answer.text())?.[1] ?? '';
    const hash = createHash('sha256').update(style).digest('base64');
    expect(answer.headers.get('content-security-policy')).toContain(`'sha256-${hash}'`);
  });

  it('checkout.success 200: exactly one of concurrent requests shows the key', async () => {
    const { successUrl } = await payPurchase();
    const pages = await Promise.all(Array.from({ length: 12 }, () => page(successUrl)));
    expect(pages.map(keyOn).filter((key) => key !== null)).toHaveLength(1);
  });

  it('checkout.success 200: reloads while it waits for the payment, at most 40 times', async () => {
    const { successUrl } = await begin();
    const refreshOf = (html: string) => /<meta http-equiv="refresh" content="(\d+);url=([^"]+)">/.exec(html);
    const first = await page(successUrl);
    expect(headingOf(first)).toBe('Waiting for the payment');
    const [, seconds, address = ''] = refreshOf(first) ?? [];
    expect(seconds).toBe('3');
    const next = new URL(address.replaceAll('&#38;', '&'), successUrl);
    expect(next.href).toBe(`${successUrl}&again=1`);
    expect(refreshOf(await page(`${successUrl}&again=39`))?.[2]).toContain('again=40');
    const last = await page(`${successUrl}&again=40`);
    expect([refreshOf(last), headingOf(last)]).toEqual([null, 'Waiting for the payment']);
  });

  it('checkout.success 200: reads the payment from Stripe when its event is missing', async () => {
    const { successUrl, payUrl } = await begin();
    const lateEvent = stripe.pay(payUrl);
    const key = keyOn(await page(successUrl));
    expect(key).not.toBeNull();
    // A late event issues no second key.
    await stripe.deliver(app.url, lateEvent);
    expect(keyOn(await page(successUrl))).toBeNull();
  });

  it('checkout.success 200: waits while Stripe is unreachable', async () => {
    const { successUrl } = await begin();
    stripe.fail({ status: 500, error: { type: 'api_error' } });
    expect(headingOf(await page(successUrl))).toBe('Waiting for the payment');
  });

  it('checkout.success 200: a delayed payment shows no key until it has succeeded', async () => {
    const { successUrl, payUrl } = await begin();
    const completed = stripe.pay(payUrl, { payment_status: 'unpaid' });
    await stripe.deliver(app.url, completed);
    const waiting = await page(successUrl);
    expect([headingOf(waiting), keyOn(waiting)]).toEqual(['Waiting for the payment', null]);
    expect(waiting).toContain('Some payment methods take days.');
    await stripe.deliver(
      app.url,
      stripe.createEvent('checkout.session.async_payment_succeeded', completed.data.object),
    );
    expect(keyOn(await page(successUrl))).not.toBeNull();
  });

  it('checkout.success 200: a prefetch of a browser does not show the key', async () => {
    const { successUrl } = await payPurchase();
    expect(keyOn(await page(successUrl, { 'sec-purpose': 'prefetch;prerender' }))).toBeNull();
    expect(keyOn(await page(successUrl))).not.toBeNull();
  });

  it.each([
    ['checkout.session.expired', 'The checkout expired before it was paid. Nothing was bought.'],
    ['checkout.session.async_payment_failed', 'The payment failed. Nothing was bought.'],
  ])('checkout.success 200: no key after %s', async (type, why) => {
    const { successUrl, payUrl } = await begin();
    await stripe.deliver(app.url, stripe.createEvent(type, stripe.sessionAt(payUrl)));
    const html = await page(successUrl);
    expect([headingOf(html), keyOn(html)]).toEqual(['No key', null]);
    expect(html).toContain(why);
  });

  it('checkout.success 200: no key after a refund before the page was opened', async () => {
    const { successUrl, payUrl } = await begin();
    const completed = stripe.pay(payUrl);
    const charge = {
      id: 'ch_9',
      object: 'charge',
      refunded: true,
      payment_intent: completed.data.object['payment_intent'],
    };
    // The refund event arrives before the payment event. Only the payment intent id of Stripe connects the two.
    await stripe.deliver(app.url, stripe.createEvent('charge.refunded', charge));
    await stripe.deliver(app.url, completed);
    const html = await page(successUrl);
    expect([headingOf(html), keyOn(html)]).toEqual(['No key', null]);
    expect(html).toContain('The payment was refunded. The key is no longer valid.');
  });

  it.each([
    '',
    '?checkout=x',
    '?checkout=%00&secret=%00',
    `?checkout=${'x'.repeat(5000)}`,
    '?secret=a&checkout=__proto__',
  ])('checkout.success 404: an invalid query: %j', async (query) => {
    const answer = await fetch(`${app.url}/billing/success${query}`);
    expect([answer.status, await answer.json()]).toEqual([404, { detail: 'There is no purchase at this address.' }]);
  });

  it('checkout.success 404: the id with another secret, the id alone, and the session id', async () => {
    const { checkoutId, payUrl, successUrl } = await payPurchase();
    const session = stripe.sessionAt(payUrl).id;
    for (const query of [
      `checkout=${checkoutId}&secret=wrong`,
      `checkout=${checkoutId}`,
      `checkout=${session}&secret=${session}`,
    ])
      expect((await fetch(`${app.url}/billing/success?${query}`)).status).toBe(404);
    expect(keyOn(await page(successUrl))).not.toBeNull();
  });

  it('405: the method HEAD, which does not use up the key', async () => {
    const { successUrl } = await payPurchase();
    expect((await fetch(successUrl, { method: 'HEAD' })).status).toBe(405);
    expect(keyOn(await page(successUrl))).not.toBeNull();
  });
});

describe('checkout.replace', () => {
  it('checkout.replace 200: a lost key is replaced, with the form of the page', async () => {
    const visit = await payPurchase();
    const lost = keyOn(await page(visit.successUrl)) ?? '';
    expect(await page(visit.successUrl)).toContain(`<form method="post" action="success">`);
    const answer = await replace(visit);
    expect([answer.status, Object.fromEntries(answer.headers)]).toEqual([200, expect.objectContaining(GUARDS)]);
    const html = await answer.text();
    expect(html).toMatch(PAGE_OF_A_KEY);
    expect(keyOn(html)).not.toBe(lost);
  });

  it('checkout.replace 404: with another secret', async () => {
    const { checkoutId } = await payPurchase();
    const answer = await replace({ checkoutId, secret: 'wrong' });
    expect([answer.status, await answer.json()]).toEqual([404, { detail: 'There is no purchase at this address.' }]);
  });

  it('checkout.replace 409: before the key was shown, and before the payment', async () => {
    for (const visit of [await payPurchase(), await begin()]) {
      const answer = await replace(visit);
      const detail = 'This key cannot be replaced here. Ask the seller.';
      expect([answer.status, await answer.json()]).toEqual([409, { detail }]);
    }
  });

  it('checkout.replace 413: a body above the size limit', async () => {
    const answer = await fetch(`${app.url}/billing/success`, { method: 'POST', body: 'x'.repeat(1024 * 1024) });
    const detail = 'Request size is too large. Request size is 1 MB. Max size is 0.06 MB';
    expect([answer.status, await answer.json()]).toEqual([413, { detail }]);
  });
});

describe('a catalog key', () => {
  it('is not a key of the gateway: 401, as for every invalid key', async () => {
    const key = keyOn(await page((await payPurchase()).successUrl)) ?? '';
    const answer = await fetch(`${app.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: '{}',
    });
    const message =
      'Authentication Error, Malformed API Key passed in. Ensure Key has `Bearer ` prefix, followed by a key that starts with `sk-`.';
    expect([answer.status, await answer.json()]).toEqual([
      401,
      { error: { message, type: 'auth_error', param: 'None', code: '401' } },
    ]);
  });
});

describe('checkout.cancelled', () => {
  it('checkout.cancelled 200: reports that nothing was bought', async () => {
    const answer = await fetch(`${app.url}/billing/cancelled`);
    expect([answer.status, Object.fromEntries(answer.headers)]).toEqual([200, expect.objectContaining(GUARDS)]);
    expect(await answer.text()).toMatch(
      /^<!doctype html>\n[\s\S]*<h1>Nothing was bought<\/h1>\n<p>The checkout was cancelled. Nothing was charged.<\/p>\n<\/body>\n<\/html>\n$/,
    );
  });
});
