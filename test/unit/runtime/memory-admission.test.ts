import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Admission, Charge, Reservation } from '../../../src/domain/admission/admission.ts';
import type { StoredTotals } from '../../../src/domain/admission/stored-totals.ts';
import { createMemoryAdmission } from '../../../src/runtime/admission/memory-admission.ts';
import { randomFrom } from '../../support/random.ts';

const charge = (counter: string, amount = 1n, limit = 10n): Charge => ({ counter, limit, amount, refused: 'at' });

/** Admission over a store whose reads the test answers, with a clock that the test advances. */
function aSetup({ countersLimit = 100 }: { readonly countersLimit?: number } = {}) {
  const state = { nowMs: 0, position: 0, storedThrough: 0, failures: [] as unknown[] };
  const stored = new Map<string, bigint>();
  /** Pending reads. `answer` returns the totals at the start of the read, or with `late` those at the answer. */
  const reads: { readonly counters: readonly string[]; answer(snapshot?: 'late'): void; fail(error: Error): void }[] =
    [];
  const totals: StoredTotals = {
    position: () => state.position,
    storedThrough: () => state.storedThrough,
    read(counters) {
      const through = state.storedThrough;
      const totalsAtStart = new Map(stored);
      return new Promise((resolve, reject) => {
        const answer = (snapshot?: 'late'): void =>
          resolve({ through, totals: snapshot === 'late' ? new Map(stored) : totalsAtStart });
        reads.push({ counters, answer, fail: reject });
      });
    },
  };
  const admission = createMemoryAdmission({
    totals,
    clock: { monotonicMs: () => state.nowMs },
    failed: (error) => state.failures.push(error),
    countersLimit,
    leaseMs: 60_000,
  });
  /** Runs due work and answers pending reads. */
  async function answerReads(): Promise<void> {
    await settled();
    for (const read of reads.splice(0)) read.answer();
    await settled();
  }
  return { admission, state, stored, reads, answerReads };
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
}

function admitted(decision: ReturnType<Admission['reserve']>): Reservation {
  if (decision instanceof Promise) throw new Error('The decision waits for a read.');
  if (decision.kind === 'refused') throw new Error('The call is refused.');
  return decision;
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

describe('a counter', () => {
  it('is read once for all waiting calls, and later calls do not wait', async () => {
    const { admission, stored, reads, answerReads } = aSetup();
    stored.set('a', 9n);
    const firstDecision = admission.reserve([charge('a')]);
    const secondDecision = admission.reserve([charge('a')]);
    await settled();
    expect(reads.map(({ counters }) => counters)).toEqual([['a']]);
    expect(admission.usedOf('a')).toBe(null);
    await answerReads();
    expect((await Promise.all([firstDecision, secondDecision])).map(({ kind }) => kind)).toEqual([
      'reserved',
      'refused',
    ]);
    expect(admission.check([charge('a', 0n)])).toBe(null);
    expect(admission.usedOf('a')).toBe(9n);
  });

  it('fails its callers when its first read fails, and is read again by the next caller', async () => {
    const { admission, state, reads, answerReads } = aSetup();
    const firstDecision = admission.reserve([charge('a')]);
    await settled();
    reads.splice(0)[0]?.fail(new Error('away'));
    await expect(firstDecision).rejects.toThrow('away');
    const nextDecision = admission.reserve([charge('a')]);
    await answerReads();
    expect((await nextDecision).kind).toBe('reserved');
    expect(state.failures).toEqual([]);
  });

  it('is read again in the background while it is in use, and includes the spend of other processes', async () => {
    const { admission, state, stored, reads, answerReads } = aSetup();
    const firstDecision = admission.reserve([charge('a')]);
    await answerReads();
    ((await firstDecision) as Reservation).release();
    // A value in use is read again after 2.5 seconds.
    state.nowMs = 2_400;
    admitted(admission.reserve([charge('a')])).release();
    vi.advanceTimersByTime(1_000);
    await settled();
    expect(reads).toEqual([]);
    state.nowMs = 2_500;
    stored.set('a', 10n);
    admitted(admission.reserve([charge('a')])).release();
    admitted(admission.reserve([charge('a')])).release();
    vi.advanceTimersByTime(50);
    await answerReads();
    expect(admission.check([charge('a')])).toEqual({ kind: 'refused', charge: charge('a'), used: 10n, reserved: 0n });
  });

  it('is read before its use when its value is older than 5 seconds', async () => {
    const { admission, state, stored, answerReads } = aSetup();
    const firstDecision = admission.check([charge('a')]);
    await answerReads();
    expect(await firstDecision).toBe(null);
    stored.set('a', 10n);
    state.nowMs = 5_000;
    const secondDecision = admission.check([charge('a')]);
    expect(secondDecision).toBeInstanceOf(Promise);
    await answerReads();
    expect((await secondDecision)?.used).toBe(10n);
  });

  it('keeps its old value in use while the store is unavailable, and is read again a second later', async () => {
    const { admission, state, stored, reads, answerReads } = aSetup();
    const firstDecision = admission.check([charge('a')]);
    await answerReads();
    await firstDecision;
    admission.count('a', 4n);
    state.nowMs = 6_000;
    const secondDecision = admission.check([charge('a')]);
    await settled();
    reads.splice(0)[0]?.fail(new Error('away'));
    expect(await secondDecision).toBe(null);
    expect([admission.usedOf('a'), state.failures]).toEqual([4n, [new Error('away')]]);
    expect(admission.check([charge('a')])).toBe(null);
    state.nowMs = 7_000;
    stored.set('a', 3n);
    const thirdDecision = admission.check([charge('a')]);
    await answerReads();
    expect(await thirdDecision).toBe(null);
    // The read total includes every record of this process, so that only this total counts.
    expect(admission.usedOf('a')).toBe(3n);
  });

  it('keeps its old value in use when a read takes a quarter of a second', async () => {
    const { admission, state, stored, reads, answerReads } = aSetup();
    const firstDecision = admission.check([charge('a')]);
    await answerReads();
    await firstDecision;
    state.nowMs = 6_000;
    stored.set('a', 10n);
    const secondDecision = admission.check([charge('a')]);
    await settled();
    vi.advanceTimersByTime(250);
    expect(await secondDecision).toBe(null);
    expect([admission.check([charge('a')]), reads.length]).toEqual([null, 1]);
    await answerReads();
    const thirdDecision = admission.check([charge('a')]);
    await answerReads();
    expect((await thirdDecision)?.used).toBe(10n);
  });

  it('is evicted when it is the least recently used, unless it has calls in progress or calls that are not stored', async () => {
    const { admission, state, answerReads } = aSetup({ countersLimit: 4 });
    const use = async (counter: string): Promise<Reservation> => {
      const decision = admission.reserve([charge(counter)]);
      if (!(decision instanceof Promise)) return admitted(decision);
      await answerReads();
      return (await decision) as Reservation;
    };
    const known = (): string[] =>
      ['a', 'b', 'c', 'd', 'e', 'f'].filter((counter) => admission.usedOf(counter) !== null);
    state.position = 1;
    await use('a');
    (await use('b')).commit([1n]);
    (await use('c')).release();
    (await use('d')).release();
    // A counter moves in the LRU order at most once a second.
    state.nowMs += 1_000;
    (await use('c')).release();
    (await use('e')).release();
    expect(known()).toEqual(['a', 'b', 'c', 'e']);
    state.storedThrough = 1;
    (await use('f')).release();
    // A counter that cannot be evicted counts as used, so `c` is the oldest now.
    expect(known()).toEqual(['a', 'b', 'e', 'f']);
  });
});

describe('a reservation that is never ended', () => {
  it('expires after its lease, is counted, and releases its amount', async () => {
    const { admission, state, answerReads } = aSetup();
    const firstDecision = admission.reserve([charge('a', 10n)]);
    await answerReads();
    await firstDecision;
    expect(admission.counts()).toEqual({ open: 1, expired: 0 });
    state.nowMs = 60_000;
    expect(admission.counts()).toEqual({ open: 0, expired: 1 });
    const nextDecision = admission.reserve([charge('a', 10n)]);
    await answerReads();
    expect((await nextDecision).kind).toBe('reserved');
  });
});

describe('the spend of this process is counted once when reads and commits of the store do not overlap', () => {
  it.each(Array.from({ length: 20 }, (_, seed) => [seed]))('seed %i', async (seed) => {
    expect(await spendAtRandom(seed, 'between commits')).toEqual({ wrong: [], missing: [] });
  });
});

describe('the spend of this process is never lost, also when reads and commits of the store overlap', () => {
  it.each(Array.from({ length: 20 }, (_, seed) => [seed]))('seed %i', async (seed) => {
    expect((await spendAtRandom(seed, 'during commits')).missing).toEqual([]);
  });
});

async function spendAtRandom(seed: number, reading: 'between commits' | 'during commits') {
  const random = randomFrom(seed);
  const { admission, state, stored, reads } = aSetup();
  const names = ['a', 'b'];
  const own = new Map(names.map((name) => [name, 0n]));
  const others = new Map(names.map((name) => [name, 0n]));
  /** Spend of other processes, by counter, that the last read included. */
  const othersAtRead = new Map(names.map((name) => [name, 0n]));
  const records: { readonly name: string; readonly cost: bigint }[] = [];
  const open: { readonly name: string; readonly reservation: Reservation }[] = [];
  const waits: Promise<void>[] = [];
  const wrong: object[] = [];
  const missing: object[] = [];
  const add = (map: Map<string, bigint>, name: string, cost: bigint): void =>
    void map.set(name, (map.get(name) ?? 0n) + cost);
  /** Spend of other processes, by counter, at the start of each read. */
  const othersByRead = new Map<object, ReadonlyMap<string, bigint>>();

  async function answerOne(): Promise<void> {
    const [read] = reads.splice(random(reads.length), 1);
    if (read === undefined) return;
    const late = random(2) === 0;
    const spent = late ? new Map(others) : othersByRead.get(read);
    read.answer(late ? 'late' : undefined);
    await settled();
    for (const name of read.counters) othersAtRead.set(name, spent?.get(name) ?? 0n);
  }
  const steps: readonly (() => void | Promise<void>)[] = [
    () => {
      const name = names[random(2)] ?? '';
      const decision = admission.reserve([charge(name, BigInt(random(3)), 1_000_000n)]);
      const keep = (taken: Awaited<typeof decision>): void => {
        if (taken.kind === 'reserved') open.push({ name, reservation: taken });
      };
      if (decision instanceof Promise) waits.push(decision.then(keep));
      else keep(decision);
    },
    () => {
      const [call] = open.splice(random(open.length), 1);
      if (call === undefined) return;
      const cost = BigInt(1 + random(9));
      records.push({ name: call.name, cost });
      state.position += 1;
      add(own, call.name, cost);
      call.reservation.commit([cost]);
    },
    // The store commits some records.
    () => {
      if (reads.length > 0 && reading === 'between commits') return;
      for (const { name, cost } of records.splice(0, random(40))) {
        add(stored, name, cost);
        state.storedThrough += 1;
      }
    },
    () => {
      const name = names[random(2)] ?? '';
      add(stored, name, 100n);
      add(others, name, 100n);
    },
    () => {
      state.nowMs += random(1_500);
      vi.advanceTimersByTime(50);
    },
    answerOne,
  ];
  for (let step = 0; step < 4_000; step += 1) {
    // Calls are the most frequent steps.
    await steps[random(3) > 0 ? random(2) : random(steps.length)]?.();
    await settled();
    for (const read of reads) if (!othersByRead.has(read)) othersByRead.set(read, new Map(others));
    for (const name of names) {
      const used = admission.usedOf(name);
      if (used === null) continue;
      const exact = (own.get(name) ?? 0n) + (othersAtRead.get(name) ?? 0n);
      const amounts = { step, name, used, exact };
      if (used !== exact) wrong.push(amounts);
      if (used < exact) missing.push(amounts);
    }
  }
  expect(state.failures).toEqual([]);
  expect((own.get('a') ?? 0n) > 1_000n).toBe(true);
  while (reads.length > 0) await answerOne();
  await Promise.all(waits);
  // The store commits nothing more, so the next read is exact.
  state.nowMs += 60_000;
  const checks = names.map(async (name) => await admission.check([charge(name, 0n, 1_000_000n)]));
  await settled();
  while (reads.length > 0) await answerOne();
  await Promise.all(checks);
  for (const name of names) expect(admission.usedOf(name)).toBe((own.get(name) ?? 0n) + (others.get(name) ?? 0n));
  return { wrong, missing };
}
