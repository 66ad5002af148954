import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { beginPurchase, type BuyerVisit, headingOf, keyOn } from '../support/buyer.ts';
import { type FakeStripe, startFakeStripe } from '../support/fake-stripe.ts';
import { type ServerProcess, spawnServer } from '../support/spawn-server.ts';

let folder: string;
let stripe: FakeStripe;
let running: ServerProcess[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lensgate-checkout-'));
  stripe = await startFakeStripe();
  running = [];
});
afterEach(async () => {
  await Promise.all(running.map((server) => server.end('SIGKILL')));
  await stripe.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function start(env: Record<string, string> = {}): Promise<ServerProcess> {
  const server = await spawnServer(folder, {
    // Two free calls a day: a third one shows whether a key lifts the limit. The log has every level.
    env: { ...stripe.env, LENSGATE_CATALOG_DAILY_LIMIT: '2', LENSGATE_LOG_LEVEL: 'debug', ...env },
  });
  running.push(server);
  return server;
}

/** The page of a purchase, at the current port of the process. */
async function pageOf({ url }: ServerProcess, { successUrl }: BuyerVisit): Promise<string> {
  const { pathname, search } = new URL(successUrl);
  const answer = await fetch(`${url}${pathname}${search}`);
  expect(answer.status).toBe(200);
  return answer.text();
}

const catalogStatus = async ({ url }: ServerProcess, headers: Record<string, string> = {}): Promise<number> =>
  (await fetch(`${url}/model_catalog?page_size=1`, { headers })).status;

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

/** Answers to requests with a key, by each header and over both transports. */
async function accessWith(server: ServerProcess, key: string) {
  const graph = await fetch(`${server.url}/graphql`, {
    method: 'POST',
    headers: { ...bearer(key), 'content-type': 'application/json' },
    body: JSON.stringify({ query: '{ catalogEntry(id: "gpt-4o") { entryId } }' }),
  });
  const models = await fetch(`${server.url}/v1/models`, { headers: bearer(key) });
  return {
    bearer: await catalogStatus(server, bearer(key)),
    xApiKey: await catalogStatus(server, { 'x-api-key': key }),
    graph: await graph.json(),
    gateway: models.status,
  };
}

const ONLY_CATALOG = {
  bearer: 200,
  xApiKey: 200,
  graph: { data: { catalogEntry: { entryId: 'gpt-4o' } } },
  gateway: 401,
};

async function useUpFreeTier(server: ServerProcess): Promise<void> {
  await expect.poll(() => catalogStatus(server)).toBe(429);
}

describe('the checkout', () => {
  it('sells a key that lifts the limit of the catalog and gives no other right, until the payment is refunded', async () => {
    const server = await start();
    await useUpFreeTier(server);
    const visit = await beginPurchase(server.url, stripe);
    expect(headingOf(await pageOf(server, visit))).toBe('Waiting for the payment');
    const completed = stripe.pay(visit.payUrl);
    expect((await stripe.deliver(server.url, completed)).status).toBe(200);
    const key = keyOn(await pageOf(server, visit)) ?? '';
    expect(key).toMatch(/^ck-[\w-]{32}$/);
    expect(await accessWith(server, key)).toEqual(ONLY_CATALOG);
    expect(await catalogStatus(server)).toBe(429);

    // A partial refund changes nothing. A full one revokes the key before its event is answered.
    const charge = { id: 'ch_1', object: 'charge', payment_intent: completed.data.object['payment_intent'] };
    await stripe.deliver(server.url, stripe.createEvent('charge.refunded', { ...charge, refunded: false }));
    expect(await catalogStatus(server, bearer(key))).toBe(200);
    await stripe.deliver(server.url, stripe.createEvent('charge.refunded', { ...charge, refunded: true }));
    expect(await catalogStatus(server, bearer(key))).toBe(429);
    // The payment event is delivered again, late: the purchase stays refunded.
    await stripe.deliver(server.url, completed);
    expect(await catalogStatus(server, bearer(key))).toBe(429);
  });

  it('follows a subscription: paused, resumed, its next invoice, and its end', async () => {
    const server = await start({ STRIPE_MODE: 'subscription' });
    await useUpFreeTier(server);
    const visit = await beginPurchase(server.url, stripe);
    const completed = stripe.pay(visit.payUrl);
    await stripe.deliver(server.url, completed);
    const key = keyOn(await pageOf(server, visit)) ?? '';
    const id = completed.data.object['subscription'];
    let createdSeconds = completed.created;
    const deliver = async (type: string, object: object): Promise<number> => {
      createdSeconds += 1;
      await stripe.deliver(server.url, stripe.createEvent(type, { ...object }, createdSeconds));
      return catalogStatus(server, bearer(key));
    };
    const subscription = (status: string) => ({ id, object: 'subscription', status });
    expect(await deliver('customer.subscription.updated', subscription('past_due'))).toBe(200);
    expect(await deliver('customer.subscription.updated', subscription('unpaid'))).toBe(429);
    expect(await deliver('customer.subscription.updated', subscription('active'))).toBe(200);
    expect(await deliver('customer.subscription.paused', subscription('paused'))).toBe(429);
    expect(await deliver('customer.subscription.resumed', subscription('active'))).toBe(200);
    // The first invoice is refunded. The charge names only the payment, which `invoice_payment.paid` links to the
    // invoice.
    const invoice = completed.data.object['invoice'];
    const payment = { type: 'payment_intent', payment_intent: 'pi_first' };
    await deliver('invoice_payment.paid', { id: 'inpay_1', object: 'invoice_payment', invoice, payment });
    const charge = { id: 'ch_1', object: 'charge', payment_intent: 'pi_first', refunded: true };
    expect(await deliver('charge.refunded', charge)).toBe(429);
    const parent = { subscription_details: { subscription: id } };
    expect(await deliver('invoice.paid', { id: 'in_next', object: 'invoice', parent })).toBe(200);
    expect(await deliver('customer.subscription.deleted', subscription('canceled'))).toBe(429);
    // An ended subscription stays ended.
    expect(await deliver('customer.subscription.resumed', subscription('active'))).toBe(429);
  });

  it('loses nothing when it is killed between the webhook event and the page, and between the page and the next call', async () => {
    const first = await start();
    const visit = await beginPurchase(first.url, stripe);
    const completed = stripe.pay(visit.payUrl);
    expect((await stripe.deliver(first.url, completed)).status).toBe(200);
    await first.end('SIGKILL');

    const second = await start();
    const key = keyOn(await pageOf(second, visit)) ?? '';
    expect(key).toMatch(/^ck-/);
    await second.end('SIGKILL');

    const third = await start();
    await useUpFreeTier(third);
    expect(await accessWith(third, key)).toEqual(ONLY_CATALOG);
    expect((await stripe.deliver(third.url, completed)).status).toBe(200);
    expect(headingOf(await pageOf(third, visit))).toBe('Your key has been shown');
    // Level 50 is `error`.
    expect([second.errors(), third.errors()].join('')).not.toContain('"level":50');
  });

  it('loses nothing when it is killed while the buyer pays, and every webhook event is lost', async () => {
    const first = await start();
    const visit = await beginPurchase(first.url, stripe);
    await first.end('SIGKILL');
    const completed = stripe.pay(visit.payUrl);
    // After the next start the process reads the missed events from the payment provider.
    const second = await start({ STRIPE_RECONCILE_SECONDS: '1' });
    await expect.poll(async () => keyOn(await pageOf(second, visit))).toMatch(/^ck-/);
    const charge = { id: 'ch_1', object: 'charge', payment_intent: completed.data.object['payment_intent'] };
    stripe.createEvent('charge.refunded', { ...charge, refunded: true });
    await expect.poll(async () => headingOf(await pageOf(second, visit))).toBe('No key');
  });

  it('never writes a secret into its log or its database', async () => {
    const server = await start();
    const visit = await beginPurchase(server.url, stripe);
    const completed = stripe.pay(visit.payUrl);
    await stripe.deliver(server.url, completed, { secret: 'whsec_wrong' });
    await stripe.deliver(server.url, completed, { body: '{' });
    await stripe.deliver(server.url, completed);
    const key = keyOn(await pageOf(server, visit)) ?? '';
    await accessWith(server, key);
    await fetch(`${server.url}/billing/success?checkout=${visit.checkoutId}&secret=${visit.secret}x`);
    stripe.fail({
      status: 401,
      error: { type: 'invalid_request_error', message: `Invalid API Key: ${stripe.secretKey}` },
    });
    expect((await fetch(`${server.url}/billing/checkout`, { method: 'POST' })).status).toBe(502);
    await server.end('SIGTERM');

    expect(server.errors()).toContain('Stripe refused the request (401');
    // The process may have removed the `-wal` file. The flag creates a missing file, so that the read does not fail.
    const database = ['', '-wal'].map((end) =>
      readFileSync(join(folder, `lensgate.db${end}`), { flag: 'a+' }).toString('latin1'),
    );
    const written = [server.errors(), server.output(), ...database].join('\n');
    const secrets = [stripe.secretKey, stripe.webhookSecret, visit.secret, key];
    // A text shorter than 10 characters is no secret: the test has read the wrong value.
    expect(secrets.filter((secret) => secret.length < 10 || written.includes(secret))).toEqual([]);
    expect(database.join('')).toContain(visit.checkoutId);
  });
});
