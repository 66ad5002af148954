import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { FreeTierCalls, FreeTierStore } from '../../src/domain/free-tier/free-tier.ts';

const HASH = 'a'.repeat(64);
const some = (calls: number, differing: Partial<FreeTierCalls> = {}): FreeTierCalls => ({
  day: '2026-11-21',
  ipHash: HASH,
  calls,
  ...differing,
});
const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

/** A place for counts that a suite may fill; `open` gives another process's view of it. */
export interface FreeTierScratch {
  open(): Promise<FreeTierStore>;
  clear(): Promise<void>;
  remove(): Promise<void>;
}

/** What every FreeTierStore promises. */
export function freeTierStoreSuite(name: string, missing: string | null, create: () => Promise<FreeTierScratch>): void {
  describe.skipIf(missing !== null)(`FreeTierStore on ${name}`, () => {
    let scratch: FreeTierScratch;
    let store: FreeTierStore;
    beforeAll(async () => {
      scratch = await create();
      store = await scratch.open();
    });
    afterEach(() => scratch.clear());
    afterAll(() => scratch.remove());

    it('gives what is asked for until the limit, and then what is left', async () => {
      expect(await store.reserve(some(4), 10)).toEqual({ granted: 4, used: 4 });
      expect(await store.reserve(some(4), 10)).toEqual({ granted: 4, used: 8 });
      expect(await store.reserve(some(4), 10)).toEqual({ granted: 2, used: 10 });
      expect(await store.reserve(some(4), 10)).toEqual({ granted: 0, used: 10 });
      expect(await store.usedOn('2026-11-21', HASH)).toBe(10);
    });

    it('gives no more than the limit at once', async () => {
      expect(await store.reserve(some(25), 10)).toEqual({ granted: 10, used: 10 });
    });

    it('gives nothing under a limit that was lowered, and takes nothing back', async () => {
      await store.reserve(some(8), 10);
      expect(await store.reserve(some(1), 5)).toEqual({ granted: 0, used: 8 });
      expect(await store.reserve(some(5), 12)).toEqual({ granted: 4, used: 12 });
    });

    it('counts clients and days apart', async () => {
      await store.reserve(some(3), 10);
      await store.reserve(some(4, { ipHash: 'b'.repeat(64) }), 10);
      await store.reserve(some(5, { day: '2026-11-22' }), 10);
      expect([
        await store.usedOn('2026-11-21', HASH),
        await store.usedOn('2026-11-21', 'b'.repeat(64)),
        await store.usedOn('2026-11-22', HASH),
        await store.usedOn('2026-11-20', HASH),
      ]).toEqual([3, 4, 5, 0]);
    });

    it('can give again what was given back', async () => {
      await store.reserve(some(10), 10);
      await store.reserve(some(5, { ipHash: 'b'.repeat(64) }), 10);
      await store.giveBack([some(3), some(2, { ipHash: 'b'.repeat(64) }), some(1)]);
      expect(await store.usedOn('2026-11-21', 'b'.repeat(64))).toBe(3);
      expect(await store.reserve(some(9), 10)).toEqual({ granted: 4, used: 10 });
    });

    it('makes no count of what is given back to a day that was forgotten', async () => {
      await store.giveBack([some(3)]);
      await store.giveBack([]);
      expect(await store.usedOn('2026-11-21', HASH)).toBe(0);
      expect(await store.forgetBefore('2027-01-01', 10)).toBe(0);
    });

    it('forgets days that are over, a step at a time, and no other', async () => {
      const days = ['2026-11-18', '2026-11-19', '2026-11-20', '2026-11-21'];
      for (const day of days) for (const ipHash of ['x', 'y', 'z']) await store.reserve(some(1, { day, ipHash }), 10);
      const steps = [await store.forgetBefore('2026-11-20', 4), await store.forgetBefore('2026-11-20', 4)];
      expect([...steps, await store.forgetBefore('2026-11-20', 4)]).toEqual([4, 2, 0]);
      expect(await Promise.all(days.map((day) => store.usedOn(day, 'x')))).toEqual([0, 0, 1, 1]);
    });

    it('never gives more than the limit, however many ask at once in two processes', async () => {
      const other = await scratch.open();
      const asked = Array.from({ length: 150 }, (_, index) => (index % 2 === 0 ? store : other).reserve(some(3), 100));
      const granted = (await Promise.all(asked)).map((reserved) => reserved.granted);
      expect(sum(granted)).toBe(100);
      expect(granted.every((calls) => calls >= 0 && calls <= 3)).toBe(true);
      expect(await other.usedOn('2026-11-21', HASH)).toBe(100);
    });

    it('stays exact while two processes take and give back for many clients', async () => {
      const other = await scratch.open();
      const clients = Array.from({ length: 20 }, (_, index) => `client-${index}`);
      const taken = await Promise.all(
        [store, other].flatMap((process) =>
          // In opposite orders, in which statements that lock row by row would wait for each other for ever.
          (process === store ? clients : clients.toReversed()).map(async (ipHash) => {
            const { granted } = await process.reserve(some(40, { ipHash }), 60);
            await process.giveBack([some(15, { ipHash })]);
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

    it('is never stuck when processes take and give back many clients at once, in whatever order', async () => {
      const other = await scratch.open();
      const clients = Array.from({ length: 50 }, (_, index) => `many-${index}`);
      const rounds = Array.from({ length: 20 }, (_, round) => round);
      await Promise.all(
        [store, other].map(async (process, which) => {
          const ordered = which === 0 ? clients : clients.toReversed();
          for (const round of rounds) {
            const reserving = ordered.map((ipHash) => process.reserve(some(2, { ipHash }), 1_000));
            const returning = round === 0 ? [] : ordered.map((ipHash) => some(1, { ipHash }));
            await Promise.all([...reserving, process.giveBack(returning)]);
          }
        }),
      );
      const used = await Promise.all(clients.map((ipHash) => store.usedOn('2026-11-21', ipHash)));
      expect(new Set(used)).toEqual(new Set([2 * (20 * 2 - 19)]));
    });

    it('takes a limit as large as can be configured', async () => {
      const most = 1_000_000_000;
      expect(await store.reserve(some(most - 1), most)).toEqual({ granted: most - 1, used: most - 1 });
      expect(await store.reserve(some(most), most)).toEqual({ granted: 1, used: most });
    });

    it('gives each of a thousand clients its own in one rush', async () => {
      const asked = Array.from({ length: 1_000 }, (_, index) =>
        store.reserve(some(50, { ipHash: `rush-${index}` }), 1_000),
      );
      expect(new Set((await Promise.all(asked)).map((reserved) => JSON.stringify(reserved)))).toEqual(
        new Set([JSON.stringify({ granted: 50, used: 50 })]),
      );
    });
  });
}
