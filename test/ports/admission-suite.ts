import { describe, expect, it } from 'vitest';
import type { Admission, Charge, Refusal, Reservation } from '../../src/domain/admission/admission.ts';
import { randomFrom } from '../support/random.ts';

/** Implementation over stored totals and a clock that the suite controls. */
interface AdmissionUnderTest {
  readonly admission: Admission;
  /** Expires the leases of all open reservations. */
  endLeases(): void;
  close(): Promise<void>;
}

export type AdmissionMaker = (stored: ReadonlyMap<string, bigint>) => Promise<AdmissionUnderTest>;

const NOTHING: ReadonlyMap<string, bigint> = new Map();
/** `refused: 'at'`: refused when the use has reached the limit, not only above it. */
const charge = (amount: bigint, more: Partial<Charge> = {}): Charge => ({
  counter: 'key:a',
  limit: 10n,
  amount,
  refused: 'at',
  ...more,
});

/** Contract of every Admission. */
export function admissionSuite(name: string, make: AdmissionMaker): void {
  async function withAdmission(run: (under: AdmissionUnderTest) => Promise<void>, stored = NOTHING): Promise<void> {
    const under = await make(stored);
    try {
      await run(under);
    } finally {
      await under.close();
    }
  }

  describe(`Admission ${name}`, () => {
    it('admits until use and reservations reach the limit', () =>
      withAdmission(async ({ admission }) => {
        const reserved = [];
        for (let call = 0; call < 5; call += 1) reserved.push(await reserve(admission, charge(2n)));
        expect(await admission.reserve([charge(2n)])).toEqual(refusal(charge(2n), 0n, 10n));
        for (const reservation of reserved) reservation.commit([2n]);
        expect(await admission.reserve([charge(2n)])).toEqual(refusal(charge(2n), 10n, 0n));
        expect(admission.usedOf('key:a')).toBe(10n);
      }));

    it('admits 5 of 200 concurrent calls with a limit for five', () =>
      withAdmission(async ({ admission }) => {
        const decisions = await Promise.all(
          Array.from({ length: 200 }, async () => await admission.reserve([charge(2n)])),
        );
        expect(decisions.map(({ kind }) => kind).filter((kind) => kind === 'reserved')).toHaveLength(5);
      }));

    it('starts from the stored total', () =>
      withAdmission(
        async ({ admission }) => {
          const last = await reserve(admission, charge(3n));
          expect(admission.usedOf('key:a')).toBe(8n);
          last.commit([3n]);
          expect(await admission.reserve([charge(1n)])).toEqual(refusal(charge(1n), 11n, 0n));
        },
        new Map([['key:a', 8n]]),
      ));

    it('admits a call larger than what is left when no other call is in flight', () =>
      withAdmission(async ({ admission }) => {
        const large = await reserve(admission, charge(1_000n));
        expect(await admission.reserve([charge(1n)])).toEqual(refusal(charge(1n), 0n, 1_000n));
        large.commit([9n]);
        (await reserve(admission, charge(1_000n))).release();
        expect(admission.usedOf('key:a')).toBe(9n);
      }));

    it('makes a released amount available again', () =>
      withAdmission(async ({ admission }) => {
        (await reserve(admission, charge(10n))).release();
        (await reserve(admission, charge(10n))).release();
        expect(admission.usedOf('key:a')).toBe(0n);
      }));

    it('refuses at the limit or above it, depending on the charge', () =>
      withAdmission(
        async ({ admission }) => {
          const above = charge(1n, { refused: 'above' });
          expect(await admission.check([charge(1n)])).toEqual(refusal(charge(1n), 10n, 0n));
          const last = await reserve(admission, above);
          expect(await admission.check([above])).toEqual(refusal(above, 10n, 1n));
          last.commit([1n]);
          expect(await admission.check([above])).toEqual(refusal(above, 11n, 0n));
        },
        new Map([['key:a', 10n]]),
      ));

    it('admits a charge of zero in spite of reservations', () =>
      withAdmission(async ({ admission }) => {
        const all = await reserve(admission, charge(10n));
        expect(await admission.check([charge(0n)])).toBe(null);
        const nothing = await reserve(admission, charge(0n));
        all.commit([4n]);
        nothing.commit([6n]);
        expect(await admission.check([charge(0n)])).toEqual(refusal(charge(0n), 10n, 0n));
      }));

    it('checks without reserving', () =>
      withAdmission(async ({ admission }) => {
        for (let call = 0; call < 5; call += 1) expect(await admission.check([charge(10n)])).toBe(null);
        await reserve(admission, charge(10n));
      }));

    it('reserves all charges or none, and names the first that does not fit', () =>
      withAdmission(async ({ admission }) => {
        const [key, team, slots] = [
          charge(1n),
          charge(1n, { counter: 'team:b', limit: 1n }),
          charge(1n, { counter: 'slots:a', limit: 1n }),
        ];
        const first = await reserve(admission, team, slots);
        expect(await admission.reserve([key, team, slots])).toEqual(refusal(team, 0n, 1n));
        expect(await admission.reserve([slots, key, team])).toEqual(refusal(slots, 0n, 1n));
        first.commit([0n, 0n]);
        const all = await reserve(admission, key, team, slots);
        all.commit([7n, 1n, 0n]);
        expect(['key:a', 'team:b', 'slots:a'].map((counter) => admission.usedOf(counter))).toEqual([7n, 1n, 0n]);
      }));

    it('ends a reservation once, and ignores later calls', () =>
      withAdmission(async ({ admission }) => {
        const committed = await reserve(admission, charge(4n));
        committed.commit([3n]);
        committed.commit([3n]);
        committed.release();
        committed.progress([3n]);
        expect(admission.usedOf('key:a')).toBe(3n);
        const released = await reserve(admission, charge(7n));
        released.release();
        released.commit([5n]);
        expect(admission.usedOf('key:a')).toBe(3n);
        expect(await admission.check([charge(7n)])).toBe(null);
      }));

    it('counts the progress of a session, which the commit of its whole use replaces', () =>
      withAdmission(async ({ admission }) => {
        const session = await reserve(admission, charge(2n));
        session.progress([3n]);
        session.progress([4n]);
        expect(admission.usedOf('key:a')).toBe(7n);
        expect(await admission.check([charge(1n)])).toBe(null);
        const secondSession = await reserve(admission, charge(1n));
        expect(await admission.check([charge(1n)])).toEqual(refusal(charge(1n), 7n, 3n));
        secondSession.release();
        session.commit([8n]);
        expect(admission.usedOf('key:a')).toBe(8n);
      }));

    it('counts use without a reservation', () =>
      withAdmission(async ({ admission }) => {
        await admission.check([charge(1n)]);
        admission.count('key:a', 10n);
        expect(await admission.check([charge(1n)])).toEqual(refusal(charge(1n), 10n, 0n));
      }));

    it('releases a reservation after its lease, and still counts a late commit', () =>
      withAdmission(async ({ admission, endLeases }) => {
        const lost = await reserve(admission, charge(10n));
        expect(await admission.check([charge(1n)])).toEqual(refusal(charge(1n), 0n, 10n));
        endLeases();
        const next = await reserve(admission, charge(10n));
        lost.commit([4n]);
        expect(admission.usedOf('key:a')).toBe(4n);
        next.release();
        expect(await admission.check([charge(6n)])).toBe(null);
      }));

    it('renews the lease of a session with each progress', () =>
      withAdmission(async ({ admission, endLeases }) => {
        const session = await reserve(admission, charge(2n));
        endLeases();
        session.progress([3n]);
        expect(admission.usedOf('key:a')).toBe(3n);
        session.commit([5n]);
        expect(admission.usedOf('key:a')).toBe(5n);
      }));

    it.each(Array.from({ length: 20 }, (_, seed) => [seed]))(
      'agrees with a simple model over random interleavings, and ends with nothing reserved (seed %i)',
      (seed) =>
        withAdmission(async ({ admission }) => {
          expect(await interleave(admission, randomFrom(seed))).toBeGreaterThan(STEPS / 4);
        }),
    );
  });
}

const refusal = (refused: Charge, used: bigint, reserved: bigint): Refusal => ({
  kind: 'refused',
  charge: refused,
  used,
  reserved,
});

async function reserve(admission: Admission, ...charges: readonly Charge[]): Promise<Reservation> {
  const decision = await admission.reserve(charges);
  if (decision.kind === 'refused') throw new Error(`refused: ${decision.charge.counter}`);
  return decision;
}

/** Counter of the reference model. */
interface ModelCounter {
  readonly counter: string;
  readonly limit: bigint;
  used: bigint;
  reserved: bigint;
  /** Sum of the use that exceeded reservations. */
  beyond: bigint;
  /** Largest reservation. */
  largest: bigint;
}

interface OpenCall {
  readonly reservation: Reservation;
  /** One part for each charge. */
  readonly parts: {
    readonly counter: ModelCounter;
    readonly reserved: bigint;
    readonly actual: bigint;
    progress: bigint;
  }[];
}

const STEPS = 2_000;

/** Runs random calls over three counters with all kinds of ends. Returns the number of admission decisions. */
async function interleave(admission: Admission, random: (bound: number) => number): Promise<number> {
  // Whether each call uses exactly what it reserved.
  const exact = random(2) === 0;
  const model: ModelCounter[] = ['a', 'b', 'c'].map((name, index) => ({
    counter: `key:${name}`,
    limit: BigInt(50 + index * 400),
    used: 0n,
    reserved: 0n,
    beyond: 0n,
    largest: 0n,
  }));
  const open: OpenCall[] = [];
  let total = 0n;
  let decisionCount = 0;

  async function begin(): Promise<void> {
    const wanted = model.filter(() => random(2) === 0);
    const charges = wanted.map(({ counter, limit }) => charge(BigInt(random(20)), { counter, limit }));
    const decision = await admission.reserve(charges);
    decisionCount += 1;
    const refusedIndex = charges.findIndex(({ amount, limit }, index) => {
      const { used, reserved } = wanted[index] ?? { used: 0n, reserved: 0n };
      return used >= limit || (amount > 0n && reserved > 0n && used + reserved >= limit);
    });
    const [refusedCharge, refusingCounter] = [charges[refusedIndex], wanted[refusedIndex]];
    if (refusedCharge !== undefined && refusingCounter !== undefined) {
      const { used, reserved } = refusingCounter;
      expect(decision).toEqual(refusal(refusedCharge, used, reserved));
      return;
    }
    if (decision.kind === 'refused') throw new Error('The model admits, the implementation refuses.');
    const parts = wanted.map((counter, index) => {
      const reserved = charges[index]?.amount ?? 0n;
      counter.reserved += reserved;
      const actual = exact ? reserved : BigInt(random(25));
      if (reserved > counter.largest) counter.largest = reserved;
      return { counter, reserved, actual, progress: 0n };
    });
    open.push({ reservation: decision, parts });
  }

  function end({ reservation, parts }: OpenCall, how: 'commit' | 'release'): void {
    for (const part of parts) {
      part.counter.reserved -= part.reserved;
      part.counter.used -= part.progress;
    }
    if (how === 'release') return reservation.release();
    for (const { counter, actual, progress, reserved } of parts) {
      const whole = actual > progress ? actual : progress;
      counter.used += whole;
      if (whole > reserved) counter.beyond += whole - reserved;
      total += whole;
    }
    reservation.commit(parts.map(({ actual, progress }) => (actual > progress ? actual : progress)));
  }

  const takeOpenCall = (): OpenCall | undefined => open.splice(random(open.length), 1)[0];
  for (let step = 0; step < STEPS; step += 1) {
    // Half of the steps begin a call. The others report progress of an open call (5), commit it (6 to 8) or release it
    // (9). Where calls use exactly what they reserved, 5 is a commit, too.
    const action = random(10);
    const call = action < 5 ? undefined : takeOpenCall();
    if (call === undefined) await begin();
    else if (action === 5 && !exact) {
      const used = call.parts.map(() => BigInt(random(5)));
      call.reservation.progress(used);
      for (const [index, part] of call.parts.entries()) {
        part.progress += used[index] ?? 0n;
        part.counter.used += used[index] ?? 0n;
      }
      open.push(call);
    } else {
      end(call, action < 9 ? 'commit' : 'release');
      // An ended reservation ignores these calls.
      if (random(4) === 0) call.reservation.commit(call.parts.map(() => 99n));
      if (random(4) === 0) call.reservation.release();
    }
    for (const { counter, used } of model) expect(admission.usedOf(counter) ?? 0n).toBe(used);
  }
  for (const call of open.splice(0)) end(call, 'commit');
  for (const { counter, used, reserved, limit, beyond, largest } of model) {
    expect(reserved).toBe(0n);
    expect(admission.usedOf(counter) ?? 0n).toBe(used);
    // No reservation is left: a charge is admitted up to the exact limit.
    expect(await admission.check([charge(1n, { counter, limit: used + 1n })])).toBe(null);
    // Use exceeds a limit by less than the largest reservation plus the use beyond reservations.
    expect(used < limit + largest + beyond).toBe(true);
    expect(exact && beyond > 0n).toBe(false);
  }
  expect(model.reduce((sum, { used }) => sum + used, 0n)).toBe(total);
  return decisionCount;
}
