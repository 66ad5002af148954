import { expect, it } from 'vitest';
import { FairSlots, type Share, type WaitingCall } from '../../../src/runtime/http-client/fair-shares.ts';
import { randomFrom } from '../../support/random.ts';

/** A call of an owner that has asked for a slot as the `nth` of all calls. */
interface Entry extends WaitingCall {
  readonly owner: string;
  readonly nth: number;
  share: Share | null;
  started: boolean;
}

/** Slots, and the calls that have started, in order. */
function slotsWith(options: { readonly limit: number; readonly fraction: number }) {
  const slots = new FairSlots(options);
  const started: Entry[] = [];
  let entryCount = 0;
  function enter(owner: string): Entry {
    entryCount += 1;
    const entry: Entry = {
      owner,
      nth: entryCount,
      share: null,
      started: false,
      start() {
        entry.started = true;
        started.push(entry);
      },
    };
    entry.share = slots.enter(owner, entry);
    return entry;
  }
  const leave = ({ share }: Entry): void => {
    if (share !== null) slots.leave(share);
  };
  return { slots, started, enter, leave };
}

/*
 * An owner may take a slot if it holds none, or fewer than `fraction / (1 - fraction)` times the free slots. With 0.75
 * the factor is 3: two owners stop at 110 of 256 slots each, because 110 is not less than three times 36.
 */
it.each([
  [256, 0.75, [192, 0, 0]],
  [256, 0.75, [110, 110, 0]],
  [8, 0.75, [6, 2, 0]],
  [4, 0.75, [3, 1, 0]],
  [2, 0.75, [2, 0, 0]],
  [1, 0.75, [1, 0, 0]],
  [256, 1, [256, 0, 0]],
  [256, 0.5, [128, 64, 32]],
])('with %d slots and a fraction of %d, owners that each make one call per slot hold %j', (limit, fraction, wanted) => {
  const { slots, started, enter } = slotsWith({ limit, fraction });
  const owners = ['a', 'b', 'c'].filter((_owner, index) => wanted[index] !== 0);
  // Owners ask in turn where the first two should hold the same number. Otherwise, one owner makes all its calls before
  // the next owner.
  const inTurn = wanted[0] === wanted[1];
  const asks = inTurn
    ? Array.from({ length: limit * owners.length }, (_, nth) => owners[nth % owners.length] ?? '')
    : owners.flatMap((owner) => Array.from({ length: limit }, () => owner));
  for (const owner of asks) enter(owner);
  const startedCounts = ['a', 'b', 'c'].map((owner) => started.filter((entry) => entry.owner === owner).length);
  expect(startedCounts).toEqual(wanted);
  expect(slots.waiting).toBe(asks.length - started.length);
});

it('a free slot goes to the owner that holds the fewest, and to its oldest call', () => {
  const { started, enter, leave } = slotsWith({ limit: 4, fraction: 1 });
  const entries = Array.from({ length: 4 }, () => enter('a'));
  const waiting = ['a', 'b', 'b', 'c'].map(enter);
  for (const entry of entries.slice(0, 3)) leave(entry);
  expect(started.slice(4)).toEqual([waiting[1], waiting[3], waiting[0]]);
});

it('a call that ends within its start is followed by the next one, for any number of waiting calls', () => {
  const slots = new FairSlots({ limit: 1, fraction: 1 });
  let started = 0;
  const shares: Share[] = [];
  const runningShare = slots.enter('a', { start() {} });
  for (let call = 0; call < 20_000; call += 1) {
    const index = call;
    const share = slots.enter('a', {
      start() {
        started += 1;
        const ownShare = shares[index];
        if (ownShare !== undefined) slots.leave(ownShare);
      },
    });
    shares.push(share);
  }
  slots.leave(runningShare);
  expect([started, slots.used, slots.waiting]).toEqual([20_000, 0, 0]);
});

it('an owner gets a slot if and only if the rule allows it: 50,000 random steps', () => {
  const random = randomFrom(5);
  for (const [limit, fraction] of [
    [1, 0.75],
    [5, 0.75],
    [16, 0.5],
    [16, 1],
  ] as const) {
    const { slots, started, enter, leave } = slotsWith({ limit, fraction });
    /** Slots that an owner may hold for every free slot. */
    const perFree = fraction === 1 ? Number.POSITIVE_INFINITY : fraction / (1 - fraction);
    const entries = new Set<Entry>();
    const waiting = new Set<Entry>();
    const heldBy = (owner: string): number => [...entries].filter((entry) => entry.owner === owner).length;
    const mayTake = (owner: string): boolean => {
      const free = limit - entries.size;
      return free > 0 && (heldBy(owner) === 0 || heldBy(owner) < perFree * free);
    };
    for (let step = 0; step < 12_500; step += 1) {
      const before = started.length;
      const [oldest] = entries;
      // 0 and 1: a call enters; where 20 wait, a call leaves. 2 and 3: a call leaves. 4: a waiting call withdraws.
      const kind = random(5);
      if (kind < 2 && waiting.size < 20) waiting.add(enter('abcd'[random(4)] ?? ''));
      else if (kind < 4) {
        const entry = [...entries][random(entries.size)] ?? oldest;
        if (entry !== undefined) {
          entries.delete(entry);
          leave(entry);
        }
      } else {
        const entry = [...waiting][random(waiting.size)];
        if (entry?.share) {
          waiting.delete(entry);
          slots.withdraw(entry.share, entry);
        }
      }
      for (const entry of started.slice(before)) {
        if (!mayTake(entry.owner))
          throw new Error(`${entry.owner} took a slot with ${heldBy(entry.owner)} of ${limit}.`);
        for (const waitingEntry of waiting) {
          if (waitingEntry.owner === entry.owner && waitingEntry.nth < entry.nth)
            throw new Error('A later call of the owner went first.');
          if (heldBy(waitingEntry.owner) < heldBy(entry.owner) && kind >= 2)
            throw new Error('An owner with more slots went first.');
        }
        waiting.delete(entry);
        entries.add(entry);
      }
      for (const entry of waiting)
        if (mayTake(entry.owner)) throw new Error(`${entry.owner} waits although it may take a slot.`);
      expect([slots.used, slots.waiting]).toEqual([entries.size, waiting.size]);
    }
  }
});
