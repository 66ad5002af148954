import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Unavailable } from '../../../src/domain/errors.ts';
import type { Checkout } from '../../../src/domain/checkout/checkout.ts';
import { createCatalogKeyRing } from '../../../src/gateway/keys/catalog-key-ring.ts';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const KEY = 'ck-0123456789';

const PAID: Checkout = {
  id: 'c1',
  mode: 'payment',
  secretHash: '',
  sessionId: 'cs_1',
  state: 'paid',
  createdAt: new Date(0),
  paidAt: new Date(0),
  key: { hash: sha256(KEY), name: 'ck-...6789', issuedAt: new Date(0) },
  revokedAt: null,
};

function aRing(found: Checkout | null = PAID) {
  const state = { found, finds: 0, nowMs: 0, isUnavailable: false };
  const ring = createCatalogKeyRing({
    store: {
      async findByKey(hash) {
        state.finds += 1;
        if (state.isUnavailable) throw new Error('the store is unavailable');
        return state.found?.key?.hash === hash ? state.found : null;
      },
    },
    generator: { make: () => '', token: () => '', hash: sha256, same: (left, right) => left === right },
    clock: { now: () => new Date(state.nowMs), monotonicMs: () => state.nowMs },
  });
  return { ring, state };
}

describe('a catalog key ring', () => {
  it('reads the store once, and answers from memory afterwards', async () => {
    const { ring, state } = aRing();
    expect(await Promise.all([ring.holds(KEY), ring.holds(KEY)])).toEqual([true, true]);
    expect(ring.holds(KEY)).toBe(true);
    expect(state.finds).toBe(1);
  });

  it.each(['', 'sk-0123456789', 'CK-0123456789', `ck-${'x'.repeat(200)}`])('refuses %j without a read', (key) => {
    const { ring, state } = aRing();
    expect([ring.holds(key), state.finds]).toEqual([false, 0]);
  });

  it.each([
    ['is not paid', { ...PAID, state: 'refunded' as const }],
    ['was revoked', { ...PAID, revokedAt: new Date(0) }],
    ['is unknown', null],
  ])('refuses a key that %s, for five seconds from memory', async (_name, found) => {
    const { ring, state } = aRing(found);
    expect(await ring.holds(KEY)).toBe(false);
    state.found = PAID;
    state.nowMs = 4_999;
    expect([ring.holds(KEY), state.finds]).toEqual([false, 1]);
    state.nowMs = 5_000;
    expect(await ring.holds(KEY)).toBe(true);
  });

  it('evicts a revoked key immediately', async () => {
    const { ring, state } = aRing();
    await ring.holds(KEY);
    state.found = { ...PAID, state: 'refunded' };
    ring.evict(sha256(KEY));
    expect(await ring.holds(KEY)).toBe(false);
  });

  it('does not use a read that began before the key was evicted', async () => {
    const { ring, state } = aRing();
    const early = ring.holds(KEY);
    state.found = null;
    ring.evict(sha256(KEY));
    await early;
    expect(await ring.holds(KEY)).toBe(false);
  });

  it('refuses a key within a minute after another process revoked it', async () => {
    const { ring, state } = aRing();
    await ring.holds(KEY);
    state.found = null;
    state.nowMs = 60_000;
    expect(await ring.holds(KEY)).toBe(false);
  });

  it('reads a key again in the background after 30 seconds, so that no caller waits for the read', async () => {
    const { ring, state } = aRing();
    await ring.holds(KEY);
    state.nowMs = 30_001;
    expect([ring.holds(KEY), ring.holds(KEY), state.finds]).toEqual([true, true, 2]);
    // The background read ends in these microtasks.
    await Promise.resolve();
    await Promise.resolve();
    state.nowMs = 60_000;
    expect(ring.holds(KEY)).toBe(true);
  });

  it('uses a key for a minute without the store, then throws Unavailable', async () => {
    const { ring, state } = aRing();
    await ring.holds(KEY);
    state.isUnavailable = true;
    state.nowMs = 59_999;
    expect(ring.holds(KEY)).toBe(true);
    state.nowMs = 60_000;
    await expect(ring.holds(KEY)).rejects.toThrow(Unavailable);
  });

  it('caches at most 10,000 unknown keys', async () => {
    const { ring, state } = aRing(null);
    for (let number = 0; number <= 10_000; number += 1) await ring.holds(`ck-${number}`);
    await ring.holds('ck-10000');
    expect(state.finds).toBe(10_001);
    await ring.holds('ck-0');
    expect(state.finds).toBe(10_002);
  });
});
