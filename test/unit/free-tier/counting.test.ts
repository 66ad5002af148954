import { describe, expect, it } from 'vitest';
import { Unavailable } from '../../../src/domain/errors.ts';
import { FreeTierUsedUp, type FreeTier, type FreeTierStore } from '../../../src/domain/free-tier/free-tier.ts';
import { aClient, aFreeTier } from '../../support/free-tier.ts';
import { createMemoryFreeTierStore } from '../../support/memory-free-tier-store.ts';

const DAY = '2026-11-21';

/** A clock that the test advances. */
function aClock(start = `${DAY}T12:00:00.000Z`) {
  let now = Date.parse(start);
  let ticks = 0;
  return {
    now: () => new Date(now),
    monotonicMs: () => ticks,
    set(time: string) {
      now = Date.parse(time);
    },
    pass(ms: number) {
      now += ms;
      ticks += ms;
    },
  };
}

/** A store in memory that counts reads and writes, and holds or refuses reservations on request. */
function aStore() {
  const memory = createMemoryFreeTierStore();
  const waiting: (() => void)[] = [];
  const store = {
    ...memory,
    writes: 0,
    reads: 0,
    isUnavailable: false,
    holding: false,
    async reserve(...parameters: Parameters<FreeTierStore['reserve']>) {
      store.writes += 1;
      if (store.isUnavailable) throw new Unavailable('The database cannot be used at the moment.');
      const reserved = await memory.reserve(...parameters);
      if (store.holding) await new Promise<void>((resolve) => waiting.push(resolve));
      return reserved;
    },
    async usedOn(...parameters: Parameters<FreeTierStore['usedOn']>) {
      store.reads += 1;
      if (store.isUnavailable) throw new Unavailable('The database cannot be used at the moment.');
      return memory.usedOn(...parameters);
    },
    releaseHeld() {
      store.holding = false;
      for (const release of waiting.splice(0)) release();
    },
  };
  return store;
}

/** Waits one turn of the event loop, so that pending promises settle. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Makes one call of a client. Resolves to whether it was served. */
async function call(tier: FreeTier, network = '192.0.2.1'): Promise<boolean> {
  try {
    await tier.charge(aClient(network));
    return true;
  } catch (error) {
    if (error instanceof FreeTierUsedUp) return false;
    throw error;
  }
}

/** Makes calls one after another. Resolves to the number of served calls. */
async function servedOf(tier: FreeTier, count: number, network?: string): Promise<number> {
  let served = 0;
  for (let index = 0; index < count; index += 1) served += Number(await call(tier, network));
  return served;
}

const usedToday = (tier: FreeTier, network?: string): Promise<number> =>
  tier.usageOf(aClient(network)).then(({ requestsToday }) => requestsToday);

/** Calls are reserved in blocks of a twentieth of the limit, or of half of the rest near the limit. */
describe('a day', () => {
  it('serves exactly its limit of calls, and calls wait only for the first and the last write', async () => {
    const store = aStore();
    const tier = aFreeTier({ store, limit: 1_000 });
    let waited = 0;
    for (let index = 0; index < 1_000; index += 1) {
      const charging = tier.charge(aClient());
      if (charging !== undefined) waited += 1;
      await charging;
      await settled();
    }
    expect(waited).toBe(2);
    expect(store.writes).toBeLessThan(30);
    expect(await servedOf(tier, 3)).toBe(0);
    expect(await usedToday(tier)).toBe(1_000);
  });

  it.each([1, 2, 3, 19, 20, 39, 40, 41, 999])(
    'with a limit of %i serves exactly this number of calls',
    async (limit) => {
      expect(await servedOf(aFreeTier({ limit }), limit + 2)).toBe(limit);
    },
  );

  it('serves 1,000 of 1,200 concurrent calls with a limit of 1,000, and writes to the store fewer than 5 times', async () => {
    const store = aStore();
    const tier = aFreeTier({ store, limit: 1_000 });
    const served = await Promise.all(Array.from({ length: 1_200 }, () => call(tier)));
    expect([served.filter(Boolean).length, await usedToday(tier)]).toEqual([1_000, 1_000]);
    expect(store.writes).toBeLessThan(5);
  });

  it('ends at midnight UTC and not before', async () => {
    const clock = aClock(`${DAY}T23:59:59.999Z`);
    const tier = aFreeTier({ limit: 2, clock });
    expect(await servedOf(tier, 3)).toBe(2);
    clock.set('2026-11-22T00:00:00.000Z');
    expect([await usedToday(tier), await servedOf(tier, 3)]).toEqual([0, 2]);
    clock.set(`${DAY}T23:59:59.999Z`);
    expect([await usedToday(tier), await servedOf(tier, 1)]).toEqual([2, 0]);
  });

  it('carries no reserved calls over to the next day', async () => {
    const clock = aClock();
    const store = aStore();
    const tier = aFreeTier({ store, limit: 100, clock });
    await servedOf(tier, 1);
    clock.set('2026-11-22T00:00:00.000Z');
    expect(await servedOf(tier, 101)).toBe(100);
    expect(await store.usedOn(DAY, (await tier.usageOf(aClient())).ipHash)).toBe(5);
  });

  it('that begins during a reservation gets none of the reserved calls', async () => {
    const clock = aClock(`${DAY}T23:59:59.999Z`);
    const store = aStore();
    const tier = aFreeTier({ store, limit: 40, clock });
    store.holding = true;
    const late = call(tier);
    await settled();
    clock.set('2026-11-22T00:00:00.000Z');
    store.releaseHeld();
    // The waiting call counts on the new day. The block of 2 calls stays counted on the day before.
    expect([await late, await servedOf(tier, 40)]).toEqual([true, 39]);
    const { ipHash } = await tier.usageOf(aClient());
    expect([await store.usedOn(DAY, ipHash), await store.usedOn('2026-11-22', ipHash)]).toEqual([2, 40]);
  });

  it('refuses with the seconds until the next day, at least one', async () => {
    const clock = aClock(`${DAY}T23:59:59.999Z`);
    const refusal = (): unknown => {
      try {
        return aFreeTier({ limit: 0, clock }).charge(aClient());
      } catch (error) {
        return error instanceof FreeTierUsedUp ? error.retryAfterSeconds : error;
      }
    };
    expect(refusal()).toBe(1);
    clock.set('2026-11-22T00:00:00.000Z');
    expect(refusal()).toBe(86_400);
  });

  it('without free calls does not use the store', async () => {
    const store = aStore();
    const tier = aFreeTier({ store, limit: 0 });
    expect([await servedOf(tier, 2), store.writes, store.reads]).toEqual([0, 0, 0]);
    expect(await tier.usageOf(aClient())).toMatchObject({ requestsToday: 0, dailyLimit: 0, remaining: 0 });
  });
});

describe('two processes over one store', () => {
  it('allow exactly the limit together', async () => {
    const store = aStore();
    const [processA, processB] = [aFreeTier({ store, limit: 1_000 }), aFreeTier({ store, limit: 1_000 })];
    const served = await Promise.all(
      Array.from({ length: 1_500 }, (_, index) => call(index % 2 === 0 ? processA : processB)),
    );
    // Each process serves the rest of its own block only.
    const servedLater = [await servedOf(processA, 100), await servedOf(processB, 100)];
    expect(served.filter(Boolean).length + servedLater.reduce((sum, count) => sum + count, 0)).toBe(1_000);
  });

  it('never allow more than the limit when one process is killed, and lose at most two blocks of calls', async () => {
    const store = aStore();
    const servedByKilled = await servedOf(aFreeTier({ store, limit: 1_000 }), 333);
    const servedByNext = await servedOf(aFreeTier({ store, limit: 1_000 }), 1_000);
    expect(servedByKilled + servedByNext).toBeLessThanOrEqual(1_000);
    // A block has 50 calls.
    expect(servedByKilled + servedByNext).toBeGreaterThanOrEqual(1_000 - 2 * 50);
  });

  it('lose no calls when one process stops', async () => {
    const store = aStore();
    const tier = aFreeTier({ store, limit: 1_000 });
    const servedByStopped = await servedOf(tier, 333);
    await tier.stop();
    const next = aFreeTier({ store, limit: 1_000 });
    expect([await usedToday(next), servedByStopped + (await servedOf(next, 1_000))]).toEqual([333, 1_000]);
  });

  it('refuse from memory for ten seconds, then allow the calls that the other process returned', async () => {
    const clock = aClock();
    const store = aStore();
    const processA = aFreeTier({ store, limit: 100, clock });
    const processB = aFreeTier({ store, limit: 100, clock });
    await servedOf(processA, 1);
    // `processA` has reserved a block of 5 calls, and has used one of them.
    expect(await servedOf(processB, 100)).toBe(95);
    const before = store.writes;
    await processA.stop();
    expect([await servedOf(processB, 10), store.writes]).toEqual([0, before]);
    clock.pass(10_000);
    expect(await servedOf(processB, 10)).toBe(4);
  });
});

describe('an unavailable store', () => {
  it('allows reserved calls, refuses other calls, and is retried', async () => {
    const store = aStore();
    const failures: unknown[] = [];
    const clock = aClock();
    const tier = aFreeTier({ store, clock, limit: 100, failed: (error) => void failures.push(error) });
    await servedOf(tier, 1);
    store.isUnavailable = true;
    expect(await servedOf(tier, 4)).toBe(4);
    expect(failures).toEqual([new Unavailable('The database cannot be used at the moment.')]);
    await expect(call(tier)).rejects.toThrow(
      new Unavailable('Free calls cannot be counted now: the store is unavailable.'),
    );
    await expect(usedToday(tier)).rejects.toThrow('the store is unavailable');
    store.isUnavailable = false;
    expect([await servedOf(tier, 96), await usedToday(tier)]).toEqual([95, 100]);
  });

  it('is logged at intervals, not for every client', async () => {
    const store = aStore();
    const failures: unknown[] = [];
    const clock = aClock();
    const tier = aFreeTier({ store, clock, limit: 100, failed: (error) => void failures.push(error) });
    const callByEachClient = async (): Promise<void> => {
      for (let index = 0; index < 50; index += 1) await servedOf(tier, 1, `client-${index}`);
    };
    for (let round = 0; round < 2; round += 1) await callByEachClient();
    store.isUnavailable = true;
    await callByEachClient();
    expect(failures).toHaveLength(1);
    clock.pass(10_000);
    await callByEachClient();
    expect(failures).toHaveLength(2);
  });

  it('has a deadline, and its late answer is used', async () => {
    const store = aStore();
    const tier = aFreeTier({ store, limit: 100, answerMs: 1 });
    store.holding = true;
    await expect(Promise.all([call(tier), call(tier)])).rejects.toThrow('the store is unavailable');
    store.releaseHeld();
    await settled();
    const before = store.writes;
    expect([await servedOf(tier, 2), store.writes]).toEqual([2, before]);
    expect(await usedToday(tier)).toBe(2);
  });

  it('is called once for all waiting callers, which all fail', async () => {
    const store = aStore();
    store.isUnavailable = true;
    const tier = aFreeTier({ store, limit: 100 });
    const answers = await Promise.allSettled(Array.from({ length: 500 }, () => call(tier)));
    expect([new Set(answers.map(({ status }) => status)), store.writes]).toEqual([new Set(['rejected']), 1]);
  });
});

describe('usage', () => {
  it('is exact at every call, also while a block is being reserved', async () => {
    const store = aStore();
    const tier = aFreeTier({ store, limit: 100 });
    const counts: number[] = [];
    for (let index = 0; index < 30; index += 1) {
      await call(tier);
      counts.push(await usedToday(tier));
    }
    expect(counts).toEqual(Array.from({ length: 30 }, (_, index) => index + 1));
    store.holding = true;
    await servedOf(tier, 3);
    const reading = usedToday(tier);
    await settled();
    store.releaseHeld();
    expect(await reading).toBe(33);
  });

  it('is read once for all concurrent callers', async () => {
    const store = aStore();
    const tier = aFreeTier({ store, limit: 100 });
    await servedOf(tier, 2);
    const answers = await Promise.all(Array.from({ length: 50 }, () => usedToday(tier)));
    expect([new Set(answers), store.reads]).toEqual([new Set([2]), 1]);
  });

  it('leaves no free calls when the limit was lowered below it', async () => {
    const store = aStore();
    await servedOf(aFreeTier({ store, limit: 100 }), 100);
    const tier = aFreeTier({ store, limit: 10 });
    expect(await tier.usageOf(aClient())).toMatchObject({ requestsToday: 100, dailyLimit: 10, remaining: 0 });
    expect(await servedOf(tier, 1)).toBe(0);
  });
});
