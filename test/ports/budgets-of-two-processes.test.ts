import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createCallRecords } from '../../src/recording/call-records.ts';
import type { Charge } from '../../src/domain/admission/admission.ts';
import { keyCounter } from '../../src/domain/admission/counters.ts';
import type { Stores } from '../../src/persistence/stores.ts';
import { createLog } from '../../src/runtime/telemetry/log.ts';
import { createMemoryAdmission } from '../../src/runtime/admission/memory-admission.ts';
import { createStoredSpend } from '../../src/runtime/admission/stored-spend.ts';
import { ENGINES, type ScratchDatabase } from './engines.ts';
import { aSpan, aSpendRow, LONE_KEY, picos, spanId, traceId } from './samples.ts';

const COUNTER = keyCounter(LONE_KEY.keyHash);

/** Shared state of two processes: the time, and the number of calls. */
interface World {
  nowMs: number;
  calls: number;
}

/** One process: its own stores over the database, its own records and counters. */
function aProcess(stores: Stores, world: World) {
  const records = createCallRecords({
    stores: [stores.calls],
    hasSubscribers: () => false,
    changed: async () => {},
    log: createLog('silent'),
  });
  const admission = createMemoryAdmission({
    totals: createStoredSpend(stores.spend, records),
    clock: { monotonicMs: () => world.nowMs },
    // A background read may fail after a test has closed its stores.
    failed: () => {},
  });
  /** Makes a call whose cost equals its reservation. Returns false when it is refused. */
  async function call(limit: bigint, cost = 1n): Promise<boolean> {
    const charge: Charge = { counter: COUNTER, limit, amount: cost, refused: 'at' };
    const decision = await admission.reserve([charge]);
    if (decision.kind === 'refused') return false;
    world.calls += 1;
    const ids = { traceId: traceId(world.calls), spanId: spanId(world.calls) };
    const spend = aSpendRow({ id: `call-${world.calls}`, ...LONE_KEY, teamId: null, ...ids, cost: picos(cost) });
    records.record({ spend, span: aSpan({ gateway: true, cost: picos(cost), ...ids }) });
    decision.commit([cost]);
    return true;
  }
  return { records, admission, call };
}

for (const engine of ENGINES)
  describe.skipIf(engine.skipReason !== null)(`budgets of two processes over one ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let world: World;
    let processes: ReturnType<typeof aProcess>[];
    let stores: Stores;
    let otherStores: Stores;
    beforeAll(async () => {
      scratch = await engine.create();
      stores = await scratch.open();
      otherStores = await scratch.open();
    });
    afterEach(() => scratch.clear());
    afterAll(() => scratch.remove());

    function start(): void {
      world = { nowMs: 0, calls: 0 };
      processes = [stores, otherStores].map((processStores) => aProcess(processStores, world));
    }
    const stored = (): Promise<bigint> => stores.spend.totalOf(LONE_KEY.keyHash);
    const flush = (): Promise<unknown> => Promise.all(processes.map(({ records }) => records.flush()));

    it('exceed the limit by at most the spend of 5 seconds', async () => {
      start();
      for (let nth = 0; nth < 9; nth += 1) for (const { call } of processes) expect(await call(10n)).toBe(true);
      await flush();
      expect(await stored()).toBe(18n);
      world.nowMs = 5_000;
      for (const { call } of processes) expect(await call(10n)).toBe(false);
      expect(processes.map(({ admission }) => admission.usedOf(COUNTER))).toEqual([18n, 18n]);
    });

    it('exceed a limit of 30 by at most 4 when they read totals in time', async () => {
      start();
      let refused = 0;
      for (let round = 0; round < 60; round += 1) {
        for (const { call } of processes) refused += (await call(30n)) ? 0 : 1;
        await flush();
        world.nowMs += 2_500;
      }
      const spent = await stored();
      // Each process makes two calls within 5 seconds. 60 rounds of two processes are 120 calls, which cost 1 each.
      expect([spent >= 30n, spent <= 34n, refused]).toEqual([true, true, 120 - Number(spent)]);
    });

    it('count each cost once, while it is committed, unfolded and read', async () => {
      start();
      const flushes: Promise<unknown>[] = [];
      for (let round = 0; round < 40; round += 1) {
        for (let nth = 0; nth < 25; nth += 1) for (const { call } of processes) await call(1_000_000n, BigInt(1 + nth));
        if (round % 2 === 0) flushes.push(flush());
        if (round % 5 === 0) flushes.push(stores.calls.unfold());
        world.nowMs += 1_700;
      }
      await Promise.all(flushes);
      await flush();
      world.nowMs += 10_000;
      // 40 rounds of two processes, with calls that cost 1 to 25, together 325.
      const spent = 40n * 2n * 325n;
      for (const { admission } of processes) {
        await admission.check([{ counter: COUNTER, limit: 1n, amount: 0n, refused: 'at' }]);
        expect(admission.usedOf(COUNTER)).toBe(spent);
      }
      expect(await stored()).toBe(spent);
    });

    it('do not wait for records that the store refuses', async () => {
      start();
      const [first] = processes;
      if (first === undefined) throw new Error('There is no process.');
      const { records } = first;
      for (const number of [1, 2, 3, 4]) {
        const broken = number % 2 === 0 ? { startedAt: new Date(Number.NaN) } : {};
        const ids = { traceId: traceId(number), spanId: spanId(number) };
        records.record({ spend: aSpendRow({ id: `call-${number}`, ...ids, ...broken }), span: aSpan(ids) });
      }
      expect([records.position(), records.storedThrough()]).toEqual([4, 0]);
      await records.flush();
      expect([records.position(), records.storedThrough()]).toEqual([4, 4]);
    });

    it('count exactly the spend of a process while the other makes no calls', async () => {
      start();
      const [first] = processes;
      if (first === undefined) throw new Error('There is no process.');
      let spent = 0n;
      for (let round = 0; round < 200; round += 1) {
        for (let nth = 0; nth < 10; nth += 1) {
          await first.call(1_000_000n, 7n);
          spent += 7n;
          expect(first.admission.usedOf(COUNTER)).toBe(spent);
        }
        if (round % 3 === 0) void first.records.caughtUp(10_000);
        world.nowMs += 1_700;
      }
      await first.records.flush();
      expect(await stored()).toBe(spent);
    });
  });
