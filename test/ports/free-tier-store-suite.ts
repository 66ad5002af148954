import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { FreeTierCalls, FreeTierStore } from '../../src/domain/free-tier/free-tier.ts';

const HASH = 'a'.repeat(64);
const callsOfDay = (calls: number, overrides: Partial<FreeTierCalls> = {}): FreeTierCalls => ({
  day: '2026-11-21',
  ipHash: HASH,
  calls,
  ...overrides,
});
const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

/** Scratch store. `open` opens it like another process. */
export interface FreeTierScratch {
  open(): Promise<FreeTierStore>;
  clear(): Promise<void>;
  remove(): Promise<void>;
}

/** Contract of every FreeTierStore. */
export function freeTierStoreSuite(
  name: string,
  skipReason: string | null,
  create: () => Promise<FreeTierScratch>,
): void {
  describe.skipIf(skipReason !== null)(`FreeTierStore on ${name}`, () => {
    let scratch: FreeTierScratch;
    let store: FreeTierStore;
    beforeAll(async () => {
      scratch = await create();
      store = await scratch.open();
    });
    afterEach(() => scratch.clear());
    afterAll(() => scratch.remove());

    it('grants the requested calls, then the rest up to the limit, then none', async () => {
      expect(await store.reserve(callsOfDay(4), 10)).toEqual({ granted: 4, used: 4 });
      expect(await store.reserve(callsOfDay(4), 10)).toEqual({ granted: 4, used: 8 });
      expect(await store.reserve(callsOfDay(4), 10)).toEqual({ granted: 2, used: 10 });
      expect(await store.reserve(callsOfDay(4), 10)).toEqual({ granted: 0, used: 10 });
      expect(await store.usedOn('2026-11-21', HASH)).toBe(10);
    });

    it('grants at most the limit in one reservation', async () => {
      expect(await store.reserve(callsOfDay(25), 10)).toEqual({ granted: 10, used: 10 });
    });

    it('grants nothing above a lowered limit, and revokes nothing', async () => {
      await store.reserve(callsOfDay(8), 10);
      expect(await store.reserve(callsOfDay(1), 5)).toEqual({ granted: 0, used: 8 });
      expect(await store.reserve(callsOfDay(5), 12)).toEqual({ granted: 4, used: 12 });
    });

    it('counts per client and day', async () => {
      await store.reserve(callsOfDay(3), 10);
      await store.reserve(callsOfDay(4, { ipHash: 'b'.repeat(64) }), 10);
      await store.reserve(callsOfDay(5, { day: '2026-11-22' }), 10);
      expect([
        await store.usedOn('2026-11-21', HASH),
        await store.usedOn('2026-11-21', 'b'.repeat(64)),
        await store.usedOn('2026-11-22', HASH),
        await store.usedOn('2026-11-20', HASH),
      ]).toEqual([3, 4, 5, 0]);
    });

    it('grants returned calls again', async () => {
      await store.reserve(callsOfDay(10), 10);
      await store.reserve(callsOfDay(5, { ipHash: 'b'.repeat(64) }), 10);
      await store.release([callsOfDay(3), callsOfDay(2, { ipHash: 'b'.repeat(64) }), callsOfDay(1)]);
      expect(await store.usedOn('2026-11-21', 'b'.repeat(64))).toBe(3);
      expect(await store.reserve(callsOfDay(9), 10)).toEqual({ granted: 4, used: 10 });
    });

    it('ignores calls that are returned to a day without a counter', async () => {
      await store.release([callsOfDay(3)]);
      await store.release([]);
      expect(await store.usedOn('2026-11-21', HASH)).toBe(0);
      expect(await store.removeBefore('2027-01-01', 10)).toBe(0);
    });

    it('deletes past days only, a step at a time', async () => {
      const days = ['2026-11-18', '2026-11-19', '2026-11-20', '2026-11-21'];
      for (const day of days)
        for (const ipHash of ['x', 'y', 'z']) await store.reserve(callsOfDay(1, { day, ipHash }), 10);
      const steps = [await store.removeBefore('2026-11-20', 4), await store.removeBefore('2026-11-20', 4)];
      expect([...steps, await store.removeBefore('2026-11-20', 4)]).toEqual([4, 2, 0]);
      expect(await Promise.all(days.map((day) => store.usedOn(day, 'x')))).toEqual([0, 0, 1, 1]);
    });

    it('never grants more than the limit to concurrent reservations of two processes', async () => {
      const secondStore = await scratch.open();
      const reservations = Array.from({ length: 150 }, (_, index) =>
        (index % 2 === 0 ? store : secondStore).reserve(callsOfDay(3), 100),
      );
      const granted = (await Promise.all(reservations)).map((reserved) => reserved.granted);
      expect(sum(granted)).toBe(100);
      expect(granted.every((calls) => calls >= 0 && calls <= 3)).toBe(true);
      expect(await secondStore.usedOn('2026-11-21', HASH)).toBe(100);
    });

    it('counts exactly when two processes reserve and return for many clients', async () => {
      const secondStore = await scratch.open();
      const clients = Array.from({ length: 20 }, (_, index) => `client-${index}`);
      const taken = await Promise.all(
        [store, secondStore].flatMap((process) =>
          // The opposite orders would deadlock with statements that lock row by row.
          (process === store ? clients : clients.toReversed()).map(async (ipHash) => {
            const { granted } = await process.reserve(callsOfDay(40, { ipHash }), 60);
            await process.release([callsOfDay(15, { ipHash })]);
            return { ipHash, used: granted - 15 };
          }),
        ),
      );
      const expected = clients.map((client) =>
        sum(taken.filter(({ ipHash }) => ipHash === client).map(({ used }) => used)),
      );
      expect(await Promise.all(clients.map((ipHash) => store.usedOn('2026-11-21', ipHash)))).toEqual(expected);
      expect(expected.every((used) => used <= 60)).toBe(true);
    });

    it('does not deadlock when processes reserve and return many clients in different orders', async () => {
      const secondStore = await scratch.open();
      const clients = Array.from({ length: 50 }, (_, index) => `many-${index}`);
      const rounds = Array.from({ length: 20 }, (_, round) => round);
      await Promise.all(
        [store, secondStore].map(async (process) => {
          const ordered = process === store ? clients : clients.toReversed();
          for (const round of rounds) {
            const reserving = ordered.map((ipHash) => process.reserve(callsOfDay(2, { ipHash }), 1_000));
            const returning = round === 0 ? [] : ordered.map((ipHash) => callsOfDay(1, { ipHash }));
            await Promise.all([...reserving, process.release(returning)]);
          }
        }),
      );
      const used = await Promise.all(clients.map((ipHash) => store.usedOn('2026-11-21', ipHash)));
      // Each of the two processes reserves 2 calls in 20 rounds, and returns 1 call in all rounds but the first.
      expect(new Set(used)).toEqual(new Set([2 * (20 * 2 - 19)]));
    });

    it('supports the largest limit that can be configured', async () => {
      const maxLimit = 1_000_000_000;
      expect(await store.reserve(callsOfDay(maxLimit - 1), maxLimit)).toEqual({
        granted: maxLimit - 1,
        used: maxLimit - 1,
      });
      expect(await store.reserve(callsOfDay(maxLimit), maxLimit)).toEqual({ granted: 1, used: maxLimit });
    });

    it('grants calls to each of a thousand concurrent clients', async () => {
      const reservations = Array.from({ length: 1_000 }, (_, index) =>
        store.reserve(callsOfDay(50, { ipHash: `rush-${index}` }), 1_000),
      );
      expect(new Set((await Promise.all(reservations)).map((reserved) => JSON.stringify(reserved)))).toEqual(
        new Set([JSON.stringify({ granted: 50, used: 50 })]),
      );
    });
  });
}
