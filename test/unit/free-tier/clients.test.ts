import { describe, expect, it } from 'vitest';
import { dayNumberText, type FreeTierCalls } from '../../../src/domain/free-tier/free-tier.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { createIpHash } from '../../../src/runtime/free-tier/ip-hash.ts';
import { aClient, aFreeTier } from '../../support/free-tier.ts';
import { createMemoryFreeTierStore } from '../../support/memory-free-tier-store.ts';

const DAY = '2026-11-21';
const CLOCK = { now: () => new Date(`${DAY}T12:00:00.000Z`), monotonicMs: () => 0 };
const nameOf = (network: string): string => createIpHash(new Secret('sk-of-the-tests'))(network);
const address = (index: number): string => `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`;

/** A store that sums reserved calls minus returned ones, and records the number of clients in each return. */
function aStore() {
  const memory = createMemoryFreeTierStore();
  const store = {
    ...memory,
    reserved: 0,
    steps: [] as number[],
    async reserve(calls: FreeTierCalls, limit: number) {
      const reserved = await memory.reserve(calls, limit);
      store.reserved += reserved.granted;
      return reserved;
    },
    async release(unused: readonly FreeTierCalls[]) {
      store.steps.push(unused.length);
      for (const { calls } of unused) store.reserved -= calls;
      await memory.release(unused);
    },
  };
  return store;
}

describe('clients', () => {
  it('are counted separately', async () => {
    const tier = aFreeTier({ limit: 2 });
    for (const network of ['192.0.2.1', '192.0.2.2', '192.0.2.2']) await tier.charge(aClient(network));
    const used = await Promise.all(
      ['192.0.2.1', '192.0.2.2', '192.0.2.3'].map(
        async (network) => (await tier.usageOf(aClient(network))).requestsToday,
      ),
    );
    expect(used).toEqual([1, 2, 0]);
  });

  it('are evicted from memory above a limit, and return their unused calls in steps of at most 500', async () => {
    const store = aStore();
    const maxClients = 1_000;
    const tier = aFreeTier({ store, limit: 1_000, clock: CLOCK, maxClients });
    const count = 100_000;
    let mostUnusedCalls = 0;
    for (let index = 0; index < count; index += 1) {
      await tier.charge(aClient(address(index)));
      mostUnusedCalls = Math.max(mostUnusedCalls, store.reserved - (index + 1));
    }
    // Each client in memory holds 49 calls of its block of 50. Returns of evicted clients may be pending.
    expect(mostUnusedCalls).toBeLessThan(49 * maxClients * 1.5);
    await tier.stop();
    expect(store.reserved).toBe(count);
    expect(Math.max(...store.steps)).toBeLessThanOrEqual(500);
  });

  it('continue their count when they return after their eviction', async () => {
    const tier = aFreeTier({ limit: 40, clock: CLOCK, maxClients: 10 });
    let served = 0;
    for (let round = 0; round < 60; round += 1) {
      for (let index = 0; index < 50; index += 1) {
        try {
          await tier.charge(aClient(address(index)));
          served += 1;
        } catch {
          // The free tier is used up.
        }
      }
    }
    expect(served).toBe(40 * 50);
  });

  it('return unused calls after they were idle, and not before', async () => {
    const store = aStore();
    const tier = aFreeTier({ store, limit: 1_000, clock: CLOCK });
    await tier.charge(aClient());
    await tier.sweep();
    expect(store.reserved).toBe(50);
    await tier.charge(aClient());
    await tier.sweep();
    expect(store.reserved).toBe(50);
    await tier.sweep();
    expect([store.reserved, (await tier.usageOf(aClient())).requestsToday]).toEqual([2, 2]);
  });

  it('lose unused calls whose return failed: these calls stay counted', async () => {
    // A block is a twentieth of the limit: 5 calls.
    const store = { ...createMemoryFreeTierStore(), release: () => Promise.reject(new Error('cut')) };
    const failures: unknown[] = [];
    const tier = aFreeTier({ store, limit: 100, clock: CLOCK, failed: (error) => void failures.push(error) });
    await tier.charge(aClient());
    await tier.stop();
    expect([failures, await store.usedOn(DAY, nameOf('192.0.2.1'))]).toEqual([[new Error('cut')], 5]);
  });
});

describe('earlier days', () => {
  it('are deleted once a day in steps of at most 500; yesterday is not deleted', async () => {
    const store = createMemoryFreeTierStore();
    const steps: (readonly [string, number])[] = [];
    const today = Date.parse(DAY) / 86_400_000;
    for (const day of [today - 3, today - 2, today - 1, today])
      for (let index = 0; index < 700; index += 1)
        await store.reserve({ day: dayNumberText(day), ipHash: `${index}`, calls: 1 }, 10);
    const tier = aFreeTier({
      store: {
        ...store,
        async removeBefore(day, maxRows) {
          const removed = await store.removeBefore(day, maxRows);
          steps.push([day, removed]);
          return removed;
        },
      },
      clock: CLOCK,
    });
    await tier.sweep();
    await tier.sweep();
    expect(steps).toEqual([
      ['2026-11-20', 500],
      ['2026-11-20', 500],
      ['2026-11-20', 400],
    ]);
    expect([await store.usedOn('2026-11-19', '1'), await store.usedOn('2026-11-20', '1')]).toEqual([0, 1]);
  });
});

describe('the name of a network', () => {
  it('depends only on the admin key and the network, and shows neither', () => {
    const names = ['sk-one', 'sk-one', 'sk-two'].map((key) => createIpHash(new Secret(key))('203.0.113.7'));
    expect(names[0]).toMatch(/^[0-9a-f]{64}$/);
    expect(names[0]).toBe(names[1]);
    expect(names[0]).not.toBe(names[2]);
    expect(createIpHash(new Secret('sk-one'))('203.0.113.8')).not.toBe(names[0]);
  });

  it('is not shown in a printed client', () => {
    const client = aClient('203.0.113.7', 'sk-secret');
    expect(JSON.stringify(client)).toBe('{"credential":"<secret>"}');
  });
});
