import type { Admission, Charge, Refusal, Reservation } from '../../domain/admission/admission.ts';
import { OpenAmounts } from '../../domain/admission/open-amounts.ts';
import { isRefused } from '../../domain/admission/rules.ts';
import type { StoredTotals } from '../../domain/admission/stored-totals.ts';
import type { Clock } from '../../domain/clock.ts';
import { OpenList, type Place } from '../../domain/open-list.ts';
import type { Shares } from './shares.ts';
import { SpendShare } from './spend-share.ts';
import { createTotalsReader, type TotalsReader } from './totals-reader.ts';
import { UseCounter } from './use-counter.ts';

/** Number of counters in memory above which a new counter evicts the least recently used one that is not busy. */
const COUNTERS_LIMIT = 100_000;
/**
 * Time without progress after which an open reservation expires, in ms: one hour, as for slots of parallel calls in the
 * reference.
 */
const LEASE_MS = 3_600_000;
/** Age in ms from which a stored total is read again before it is used. */
const STALE_MS = 5_000;
/** Age in ms from which a call that uses a stored total starts a read of it in the background. */
const REFRESH_AGE_MS = 2_500;
/** Counters that one eviction examines. When all of them are busy, none is evicted. */
const EVICTION_TRIES = 8;
/**
 * Maximum time that a call repeats its requests for shares, in ms. Then it is admitted: each limit has room left, but
 * other calls took the granted shares.
 */
const MAX_WAIT_MS = 2_000;
/** Minimum time between two LRU moves of a counter, in ms, because a move costs more than a lookup. */
const LRU_MOVE_INTERVAL_MS = 1_000;

/** Reservation counts, for metrics. */
interface ReservationCounts {
  /** Reservations of calls in flight. */
  readonly open: number;
  /** Reservations that expired. Each is a bug, or a call that reported no progress for longer than the lease. */
  readonly expired: number;
}

export interface MemoryAdmission extends Admission {
  counts(): ReservationCounts;
}

interface MemoryAdmissionOptions {
  readonly totals: StoredTotals;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Called when a repeated read or a background read has failed. A total in memory stays in use. */
  readonly failed: (error: unknown) => void;
  /** Shares of budgets that several processes count together; absent where each process counts for itself. */
  readonly shares?: Shares | null | undefined;
  /** Expected costs of objects that upstreams still work on; none when absent. */
  readonly open?: OpenAmounts;
  readonly countersLimit?: number;
  readonly leaseMs?: number;
  /** Age of a stored total in ms from which a call waits for a new read of it. */
  readonly staleMs?: number;
  /** Age of a stored total in ms from which a call starts a read of it in the background. */
  readonly refreshAgeMs?: number;
}

/**
 * Admission that counts in this process, over stored totals that several processes add to. The spend of this process is
 * exact. The spend of others is known with the next read: a total in use is read every 2.5 seconds in the background. A
 * total older than 5 seconds is read before it is used; if that read fails or is slow, the old total is used. Without
 * such failures, the processes over one store together exceed a limit by a bounded amount. It is their spend within 5
 * seconds, plus the time until their records are committed.
 */
export function createMemoryAdmission({
  totals,
  clock,
  failed,
  shares = null,
  open = new OpenAmounts(),
  countersLimit = COUNTERS_LIMIT,
  leaseMs = LEASE_MS,
  staleMs = STALE_MS,
  refreshAgeMs = REFRESH_AGE_MS,
}: MemoryAdmissionOptions): MemoryAdmission {
  const nowMs = (): number => clock.monotonicMs();
  /** Least recently used first. */
  const counters = new Map<string, UseCounter>();
  const reader: TotalsReader = createTotalsReader({ totals, nowMs, failed, snapshot: shares?.snapshot });
  const storedThrough = (): number => totals.storedThrough();
  const leases: Leases = { open: new OpenList(), expired: 0, leaseMs, nowMs, totals };

  function counterOf(name: string): UseCounter {
    const known = counters.get(name);
    if (known !== undefined) return known;
    const fresh = new UseCounter(name);
    const reread = (): void => reader.readAhead(fresh);
    if (shares !== null) fresh.share = new SpendShare(fresh, shares, { storedThrough, reread });
    counters.set(name, fresh);
    if (counters.size > countersLimit) evictOne();
    return fresh;
  }

  function evictOne(): void {
    let tries = 0;
    for (const [name, counter] of counters) {
      if (tries === EVICTION_TRIES) return;
      tries += 1;
      counters.delete(name);
      if (!counter.isBusy(totals.storedThrough())) {
        // A call may still use the evicted counter. When it is admitted, `touch` adds the counter again.
        counter.movedMs = -Infinity;
        return;
      }
      counters.set(name, counter);
    }
  }

  /** Marks counters as most recently used. */
  function touch(charged: readonly CountedCharge[], now: number): void {
    for (const { counter } of charged) {
      if (now - counter.movedMs < LRU_MOVE_INTERVAL_MS) continue;
      counter.movedMs = now;
      counters.delete(counter.name);
      counters.set(counter.name, counter);
    }
  }

  /**
   * Starts or schedules the reads that are due. Returns a promise of the reads that the call waits for; null for none.
   */
  function dueReads(charged: readonly CountedCharge[], now: number): Promise<unknown> | null {
    let waits: Promise<void>[] | null = null;
    for (const { counter } of charged) {
      const age = now - counter.readMs;
      const isReadPaused = counter.wasRead && now < counter.retryMs;
      if (age < refreshAgeMs || isReadPaused) continue;
      if (counter.wasRead && age < staleMs) reader.readAhead(counter);
      else (waits ??= []).push(reader.readNow(counter));
    }
    return waits === null ? null : Promise.all(waits);
  }

  function chargedOf(charges: readonly Charge[], now: number): readonly CountedCharge[] {
    expire(leases, now);
    return charges.map((charge) => ({
      charge: open.isEmpty ? charge : open.lowered(charge),
      asked: charge,
      counter: counterOf(charge.counter),
      progress: 0n,
    }));
  }

  function hold(charged: readonly CountedCharge[]): Reservation {
    const now = nowMs();
    touch(charged, now);
    return new MemoryReservation(charged, leases, now);
  }

  const holdNothing = (): null => null;
  const admit = (charged: readonly CountedCharge[]): Reservation | Refusal | Promise<Reservation | Refusal> =>
    decide(charged, hold);
  const checkOnly = (charged: readonly CountedCharge[]): Refusal | null | Promise<Refusal | null> =>
    decide(charged, holdNothing);

  /**
   * Returns a refusal, or the result of `onAdmitted`. Where a share lacks room, the ledger is asked first. No other
   * code runs between the decision and `onAdmitted`.
   */
  function decide<Passed>(
    charged: readonly CountedCharge[],
    onAdmitted: (charged: readonly CountedCharge[]) => Passed,
  ): Refusal | Passed | Promise<Refusal | Passed> {
    const refusal = refusalOf(charged);
    if (refusal !== null) return refusal;
    return charged.some(lacksRoom) ? requestAndDecide(charged, onAdmitted) : onAdmitted(charged);
  }

  async function requestAndDecide<Passed>(
    charged: readonly CountedCharge[],
    onAdmitted: (charged: readonly CountedCharge[]) => Passed,
  ): Promise<Refusal | Passed> {
    const deadlineMs = nowMs() + MAX_WAIT_MS;
    for (;;) {
      const lacking = charged.filter(lacksRoom);
      await Promise.all(lacking.map(async ({ charge, counter }) => counter.share?.request(charge)));
      const refusal = refusalOf(charged);
      if (refusal !== null) return refusal;
      const stillLacking = charged.find(lacksRoom);
      if (stillLacking === undefined) return onAdmitted(charged);
      if (stillLacking.counter.share?.isRefused(stillLacking.charge) === true) return sharedRefusal(stillLacking);
      // Another call has taken the granted room. Each answer of the ledger admits at least one call, so ask again.
      // After the deadline the call is admitted: every limit has room left.
      if (nowMs() >= deadlineMs) return onAdmitted(charged);
      // Read the stored totals that the ledger lacks. The next request sends them.
      await Promise.all(
        charged
          .filter(({ counter }) => counter.share?.needsBase === true)
          .map(({ counter }) => reader.readNow(counter)),
      );
    }
  }

  return {
    reserve(charges) {
      const now = nowMs();
      const charged = chargedOf(charges, now);
      const waits = dueReads(charged, now);
      return waits === null ? admit(charged) : waits.then(() => admit(charged));
    },
    check(charges) {
      const now = nowMs();
      const charged = chargedOf(charges, now);
      const waits = dueReads(charged, now);
      return waits === null ? checkOnly(charged) : waits.then(() => checkOnly(charged));
    },
    count: (name, amount) => counters.get(name)?.add(amount, totals),
    usedOf(name) {
      const counter = counters.get(name);
      return counter?.wasRead === true ? counter.used : null;
    },
    counts() {
      expire(leases, nowMs());
      return { open: leases.open.size, expired: leases.expired };
    },
  };
}

function refusalOf(charged: readonly CountedCharge[]): Refusal | null {
  for (const one of charged) {
    const { charge, asked, counter } = one;
    const { used, reserved } = counter;
    if (isRefused(charge, counter)) return { kind: 'refused', charge: asked, used, reserved: reserved + openOf(one) };
  }
  return null;
}

/** Whether the share of a counter has no room for its charge. */
const lacksRoom = ({ charge, counter }: CountedCharge): boolean => counter.share?.hasRoom(charge) === false;

/** Refusal because of what other processes have used and reserved. */
function sharedRefusal({ charge, asked, counter }: CountedCharge): Refusal {
  const { used, share } = counter;
  const left = share?.leftOf(charge.limit) ?? 0n;
  return { kind: 'refused', charge: asked, used, reserved: asked.limit - used - left };
}

/** Expected cost that objects hold in the counter of a charge. */
const openOf = ({ charge, asked }: CountedCharge): bigint => asked.limit - charge.limit;

/** The reservations of calls in flight, oldest lease first. */
interface Leases {
  readonly open: OpenList<MemoryReservation>;
  /** Number of reservations that have expired. */
  expired: number;
  readonly leaseMs: number;
  readonly nowMs: () => number;
  readonly totals: StoredTotals;
}

function expire(leases: Leases, now: number): void {
  for (;;) {
    const { oldest } = leases.open;
    if (oldest === null || oldest.expiresMs > now) return;
    leases.expired += 1;
    oldest.expire();
  }
}

/** A charge of a call, and its counter. */
interface CountedCharge {
  /** With a limit that is lowered by the expected costs of open objects. */
  readonly charge: Charge;
  /** As the call has passed it. */
  readonly asked: Charge;
  readonly counter: UseCounter;
  /** Amount counted by `progress`. */
  progress: bigint;
}

class MemoryReservation implements Reservation {
  readonly kind = 'reserved';
  expiresMs: number;
  readonly #charged: readonly CountedCharge[];
  readonly #leases: Leases;
  #place: Place<MemoryReservation>;
  /** Whether the amounts of its charges are reserved. */
  #isReserved = true;
  /** Whether the call has committed or released this reservation. */
  #isEnded = false;

  constructor(charged: readonly CountedCharge[], leases: Leases, nowMs: number) {
    this.#charged = charged;
    this.#leases = leases;
    this.expiresMs = nowMs + leases.leaseMs;
    for (const { charge, counter } of charged) {
      counter.hold(charge.amount);
      counter.share?.addReserved(charge.amount);
    }
    this.#place = leases.open.add(this);
  }

  commit(actual: readonly bigint[]): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#releaseAmounts();
    let position = 0;
    for (const { counter } of this.#charged) {
      counter.add(actual[position] ?? 0n, this.#leases.totals);
      position += 1;
    }
  }

  release(): void {
    this.commit([]);
  }

  progress(used: readonly bigint[]): void {
    if (this.#isEnded) return;
    const { open, leaseMs, nowMs } = this.#leases;
    const hadExpired = !open.remove(this.#place);
    // An expired reservation is opened again, but its amounts are not reserved again.
    if (hadExpired) for (const { counter } of this.#charged) counter.holds += 1;
    this.#place = open.add(this);
    this.expiresMs = nowMs() + leaseMs;
    for (const [position, charged] of this.#charged.entries()) {
      const part = used[position] ?? 0n;
      charged.counter.progress += part;
      charged.progress += part;
      charged.counter.share?.changed();
    }
  }

  /** Releases the reserved amounts. Counted use stays until the next read of the stored totals. */
  expire(): void {
    const counted = this.#charged.map(({ progress }) => progress);
    this.#releaseAmounts();
    for (const [position, { counter }] of this.#charged.entries())
      counter.add(counted[position] ?? 0n, this.#leases.totals);
  }

  #releaseAmounts(): void {
    if (!this.#leases.open.remove(this.#place)) return;
    for (const charged of this.#charged) {
      charged.counter.removeHold(this.#isReserved ? charged.charge.amount : 0n, charged.progress);
      charged.progress = 0n;
    }
    this.#isReserved = false;
  }
}
