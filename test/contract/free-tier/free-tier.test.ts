import { afterEach, describe, expect, it } from 'vitest';
import { Unavailable } from '../../../src/domain/errors.ts';
import type { FreeTier } from '../../../src/domain/free-tier/free-tier.ts';
import { createMemoryFreeTierStore } from '../../support/memory-free-tier-store.ts';
import { aFreeTier } from '../../support/free-tier.ts';
import { catalogOf, startCatalogServer } from '../catalog/catalog-server.ts';

/** 90 seconds before midnight UTC. */
const CLOCK = { now: () => new Date('2026-11-21T23:58:30.000Z'), monotonicMs: () => 0 };
/** HMAC-SHA256 of `192.0.2.1` with a key derived from the tests' admin key, computed with another program. */
const ADDRESS_HASH = 'b89abc538cbc943bc9140f3f3b384d8e71e4a27d31a5a2c43355795b3b11829d';

let server: Awaited<ReturnType<typeof startCatalogServer>>;
afterEach(() => server.close());

/** Starts the catalog. Each request has the credential `credential`. */
async function startWith(freeTier: FreeTier, credential: string | null = null): Promise<void> {
  server = await startCatalogServer(catalogOf({ 'gpt-4': {} }), { freeTier, credential });
}

async function get(path: string) {
  const response = await fetch(`${server.url}${path}`);
  const { headers } = response;
  const limits = Object.fromEntries([...headers].filter(([name]) => /^(retry|x-ratelimit|cache)/.test(name)));
  return { status: response.status, limits, body: await response.json() };
}

const usedUpAnswer = (detail: string, limit: string) => ({
  status: 429,
  limits: {
    'retry-after': '90',
    'x-ratelimit-limit-requests': limit,
    'x-ratelimit-remaining-requests': '0',
    'x-ratelimit-reset-requests': '90s',
  },
  body: { detail },
});
const SEND_A_KEY = 'Send a key as `Authorization: Bearer <key>` or `x-api-key`; POST /billing/checkout sells one.';

describe.each([
  ['catalog.list', '/model_catalog'],
  ['catalog.get', '/model_catalog/gpt-4'],
  ['catalog.priceMap', '/public/litellm_model_cost_map'],
])('%s 429', (_row, path) => {
  it('is the answer to the first call above the limit', async () => {
    await startWith(aFreeTier({ limit: 2, clock: CLOCK }));
    expect([(await get(path)).status, (await get(path)).status]).toEqual([200, 200]);
    const detail = `The free tier of 2 requests a day is used up for your address. It resets at 00:00 UTC. ${SEND_A_KEY}`;
    expect(await get(path)).toEqual(usedUpAnswer(detail, '2'));
  });

  it('says that the sent key is not accepted', async () => {
    await startWith(aFreeTier({ limit: 1, clock: CLOCK }), 'sk-of-yesterday');
    expect((await get(path)).status).toBe(200);
    const detail = `The free tier of 1 request a day is used up for your address. It resets at 00:00 UTC. The key that was sent is not accepted. ${SEND_A_KEY}`;
    expect(await get(path)).toEqual(usedUpAnswer(detail, '1'));
  });

  it('is the answer to every call if the limit is zero', async () => {
    await startWith(aFreeTier({ limit: 0, clock: CLOCK }));
    expect(await get(path)).toEqual(usedUpAnswer(`No call is free here. ${SEND_A_KEY}`, '0'));
  });

  it('does not mention a purchase if no key is for sale', async () => {
    await startWith(aFreeTier({ limit: 0, clock: CLOCK, onSale: false }));
    const detail = 'No call is free here. Send a key as `Authorization: Bearer <key>` or `x-api-key`.';
    expect(await get(path)).toEqual(usedUpAnswer(detail, '0'));
  });

  it('is never the answer to a valid key', async () => {
    await startWith(aFreeTier({ limit: 0, paidKeys: { holds: (key) => key === 'sk-paid' } }), 'sk-paid');
    expect((await get(path)).status).toBe(200);
  });
});

describe('the count of free calls', () => {
  it('includes a 404 and an invalid pattern (400), but not an invalid page (422)', async () => {
    await startWith(aFreeTier({ limit: 10 }));
    const statuses = [];
    for (const path of [
      '/model_catalog?page=0',
      '/model_catalog/no-such',
      '/model_catalog',
      '/model_catalog?model=re:(',
    ])
      statuses.push((await get(path)).status);
    expect(statuses).toEqual([422, 404, 200, 400]);
    expect((await get('/billing/usage')).body).toMatchObject({ requests_today: 3, remaining: 7 });
  });
});

const failAsUnavailable = () => Promise.reject(new Unavailable('The database cannot be used at the moment.'));
const UNAVAILABLE_ANSWER = {
  status: 503,
  limits: { 'retry-after': '2' },
  body: { detail: 'Free calls cannot be counted now: the store is unavailable.' },
};

describe.each([
  ['catalog.list', '/model_catalog'],
  ['catalog.get', '/model_catalog/gpt-4'],
  ['catalog.priceMap', '/public/litellm_model_cost_map'],
  ['freeTier.usage', '/billing/usage'],
])('%s 503', (_row, path) => {
  it('is the answer while calls cannot be counted, and only then', async () => {
    const store = { ...createMemoryFreeTierStore(), reserve: failAsUnavailable, usedOn: failAsUnavailable };
    await startWith(aFreeTier({ store, limit: 10 }));
    expect(await get(path)).toEqual(UNAVAILABLE_ANSWER);
    Object.assign(store, createMemoryFreeTierStore());
    expect((await get(path)).status).toBe(200);
  });
});

describe('freeTier.usage 200', () => {
  it('shows the use of the address without counting a call, with members in the documented order', async () => {
    await startWith(aFreeTier({ limit: 3 }));
    const usage = (used: number) => ({
      status: 200,
      limits: { 'cache-control': 'no-store' },
      body: { ip_hash: ADDRESS_HASH, requests_today: used, daily_limit: 3, remaining: 3 - used },
    });
    expect(await get('/billing/usage')).toEqual(usage(0));
    expect(await get('/billing/usage')).toEqual(usage(0));
    await get('/model_catalog');
    expect(await get('/billing/usage')).toEqual(usage(1));
    for (let call = 0; call < 5; call += 1) await get('/model_catalog');
    const last = await get('/billing/usage');
    expect(last).toEqual(usage(3));
    expect(Object.keys(last.body as object)).toEqual(['ip_hash', 'requests_today', 'daily_limit', 'remaining']);
  });

  it('also shows the use of the address to a request with a key', async () => {
    await startWith(aFreeTier({ limit: 3, paidKeys: { holds: () => true } }), 'sk-paid');
    // A call with a valid key is not counted.
    await get('/model_catalog');
    expect((await get('/billing/usage')).body).toMatchObject({ requests_today: 0, remaining: 3 });
  });

  it('accepts only GET', async () => {
    await startWith(aFreeTier());
    const answers = await Promise.all(
      ['POST', 'HEAD', 'OPTIONS'].map((method) => fetch(`${server.url}/billing/usage`, { method })),
    );
    expect(answers.map(({ status, headers }) => [status, headers.get('allow')])).toEqual([
      [405, 'GET'],
      [405, 'GET'],
      [405, 'GET'],
    ]);
  });
});
