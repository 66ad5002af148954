import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keyOn } from '../support/buyer.ts';
import { type FakeStripe, startFakeStripe } from '../support/fake-stripe.ts';
import { startApp, type TestApp } from '../support/start-app.ts';
import {
  CheckoutsDocument,
  CreateCheckoutDocument,
  ReplaceCatalogKeyDocument,
  RevokeCatalogKeyDocument,
  TypedDocumentString,
} from './generated/graphql.ts';
import type { GraphAnswer } from './graph-server.ts';

interface Listed {
  readonly checkouts: { readonly nodes: readonly { readonly checkoutId: string; readonly state: string }[] };
}

let stripe: FakeStripe;
let app: TestApp;
beforeAll(async () => {
  stripe = await startFakeStripe();
  // No call is free, so the catalog answers only valid keys.
  app = await startApp({ env: { ...stripe.env, LENSGATE_CATALOG_DAILY_LIMIT: '0' } });
});
afterAll(async () => {
  await app.stop();
  await stripe.stop();
});

/** Runs an operation on a whole server, with a store and a fake payment provider. */
async function call<Data, Variables>(
  document: TypedDocumentString<Data, Variables>,
  variables: Variables,
  { server = app, key = server.adminKey }: { readonly server?: TestApp; readonly key?: string | null } = {},
): Promise<GraphAnswer<Data>> {
  const answer = await fetch(`${server.url}/graphql`, {
    method: 'POST',
    body: JSON.stringify({ query: document.toString(), variables }),
    headers: { 'content-type': 'application/json', ...(key === null ? {} : { authorization: `Bearer ${key}` }) },
  });
  return (await answer.json()) as GraphAnswer<Data>;
}

const catalogStatus = async (key: string): Promise<number> =>
  (await fetch(`${app.url}/model_catalog?page_size=1`, { headers: { 'x-api-key': key } })).status;

/** Starts a purchase through the graph. Pays a `paid` purchase, and reads its key. */
async function purchase(end: 'paid' | 'unpaid') {
  const { data } = await call(CreateCheckoutDocument, {}, { key: null });
  if (!('url' in data.createCheckout)) throw new Error(JSON.stringify(data));
  const session = stripe.sessionAt(data.createCheckout.url);
  const id = String(session['client_reference_id']);
  if (end === 'unpaid') return { id, key: '' };
  await stripe.deliver(app.url, stripe.pay(data.createCheckout.url));
  return { id, key: keyOn(await (await fetch(String(session['success_url']))).text()) ?? '' };
}

describe('purchases in the graph', () => {
  it('are started by anyone, and listed for administrators, newest first', async () => {
    const paid = await purchase('paid');
    const unpaid = await purchase('unpaid');
    const { data } = await call(CheckoutsDocument, { first: 2 });
    const unpaidCheckout = {
      checkoutId: unpaid.id,
      mode: 'PAYMENT',
      state: 'OPEN',
      paidAt: null,
      revokedAt: null,
      key: null,
    };
    const paidCheckout = {
      checkoutId: paid.id,
      mode: 'PAYMENT',
      state: 'PAID',
      paidAt: expect.stringMatching(/^\d{4}-.*Z$/),
      revokedAt: null,
      key: { name: `ck-...${paid.key.slice(-4)}`, valid: true },
    };
    expect(data.checkouts).toEqual({
      nodes: [unpaidCheckout, paidCheckout],
      pageInfo: { hasNextPage: false, hasPreviousPage: false, endCursor: expect.any(String) },
    });
    const first = await call(CheckoutsDocument, { first: 1 });
    const after = first.data.checkouts.pageInfo.endCursor;
    const second = await call(CheckoutsDocument, { first: 1, after });
    expect([first.data.checkouts.nodes, second.data.checkouts.nodes]).toEqual([[unpaidCheckout], [paidCheckout]]);
    expect([first, second].map(({ data: page }) => page.checkouts.pageInfo.hasNextPage)).toEqual([true, false]);
  });

  it('are listed by state and in both orders', async () => {
    const list = async (args: string) => {
      const { data } = await call<Listed, object>(
        new TypedDocumentString(`{ checkouts${args} { nodes { checkoutId state } } }`),
        {},
      );
      return data.checkouts.nodes;
    };
    await purchase('paid');
    const newest = await list('');
    expect(await list('(orderBy: { direction: ASC })')).toEqual(newest.toReversed());
    expect(await list('(filter: { state: PAID })')).toEqual(newest.filter(({ state }) => state === 'PAID'));
    expect(await list('(filter: { state: REFUNDED })')).toEqual([]);
    expect(newest.map(({ state }) => state)).toContain('PAID');
  });

  it.each([
    [{ first: 0 }, '`first` must be between 1 and 50.'],
    [{ first: 51 }, '`first` must be between 1 and 50.'],
    [{ after: 'x' }, 'Invalid cursor.'],
    [{ after: "1.'; drop table checkout" }, 'Invalid cursor.'],
  ])('are not listed with invalid variables: %j', async (variables, message) => {
    const { errors } = await call(CheckoutsDocument, variables);
    expect(errors).toMatchObject([{ message, extensions: { code: 'INVALID_INPUT' } }]);
  });

  it('have their key revoked by an administrator, immediately and permanently', async () => {
    const { id, key } = await purchase('paid');
    expect(await catalogStatus(key)).toBe(200);
    const { data } = await call(RevokeCatalogKeyDocument, { id });
    expect(data.revokeCatalogKey).toEqual({
      __typename: 'Checkout',
      checkoutId: id,
      state: 'PAID',
      key: { valid: false },
    });
    expect(await catalogStatus(key)).toBe(429);
    const replacement = await call(ReplaceCatalogKeyDocument, { id });
    expect(replacement.data.replaceCatalogKey).toEqual({
      __typename: 'ConflictError',
      code: 'CONFLICT',
      message: 'No key was issued: the checkout gives no right to a key, or another request replaced the key.',
    });
  });

  it('get a new key from an administrator, which invalidates the old key', async () => {
    const { id, key } = await purchase('paid');
    const { data } = await call(ReplaceCatalogKeyDocument, { id });
    if (!('key' in data.replaceCatalogKey)) throw new Error(JSON.stringify(data));
    const fresh = data.replaceCatalogKey.key;
    expect(data.replaceCatalogKey.checkout.key).toEqual({ name: `ck-...${fresh.slice(-4)}`, valid: true });
    expect([await catalogStatus(key), await catalogStatus(fresh)]).toEqual([429, 200]);
  });

  it.each(['nobody', '', '\0', "x' or 1=1"])('are not found by the unknown id %j', async (id) => {
    const missing = { __typename: 'NotFoundError', code: 'NOT_FOUND', message: `checkout ${id} not found` };
    expect((await call(RevokeCatalogKeyDocument, { id })).data.revokeCatalogKey).toEqual(missing);
    expect((await call(ReplaceCatalogKeyDocument, { id })).data.replaceCatalogKey).toEqual(missing);
  });

  it('are listed and changed by administrators only', async () => {
    const response = await app.call('POST', '/key/generate', { user_role: 'proxy_admin_viewer' });
    const { key: viewerKey } = (await response.json()) as { key: string };
    const { id, key: catalogKey } = await purchase('paid');
    for (const otherKey of [viewerKey, null, catalogKey]) {
      const answers = [
        await call(CheckoutsDocument, {}, { key: otherKey }),
        await call(RevokeCatalogKeyDocument, { id }, { key: otherKey }),
        await call(ReplaceCatalogKeyDocument, { id }, { key: otherKey }),
      ];
      const code = otherKey === viewerKey ? 'FORBIDDEN' : 'UNAUTHENTICATED';
      expect(answers.map(({ errors }) => errors?.[0]?.extensions?.['code'])).toEqual(Array(3).fill(code));
    }
    expect(await catalogStatus(catalogKey)).toBe(200);
  });

  it('fail with the names of missing settings, or with the status, code and request id of an error of Stripe', async () => {
    const unconfigured = await startApp();
    const { errors } = await call(CreateCheckoutDocument, {}, { server: unconfigured, key: null });
    expect(errors).toMatchObject([
      {
        message: 'Checkout is not configured: STRIPE_SECRET_KEY and STRIPE_PRICE_ID are not set.',
        extensions: { code: 'UNAVAILABLE', retryAfterSeconds: null },
      },
    ]);
    await unconfigured.stop();
    stripe.fail({ status: 400, error: { type: 'invalid_request_error', code: 'resource_missing' } });
    const { data } = await call(CreateCheckoutDocument, {}, { key: null });
    stripe.fail(null);
    expect(data.createCheckout).toEqual({
      __typename: 'UpstreamFailedError',
      code: 'UPSTREAM_FAILED',
      message: 'Stripe refused the request (400, resource_missing, req_fake).',
    });
  });
});
