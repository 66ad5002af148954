import type { Admission, Charge, Refusal, Reservation } from '../../domain/admission/admission.ts';
import { isRefused } from '../../domain/admission/rules.ts';
import type { StoredTotals } from '../../domain/admission/stored-totals.ts';
import type { Clock } from '../../domain/clock.ts';
import { createTotalsReader, type TotalsReader } from './totals-reader.ts';
import { UseCounter } from './use-counter.ts';

/** Most counters in memory. Beyond that the least recently used one without a call in flight is evicted. */
const COUNTERS_LIMIT = 100_000;
/** A reservation that was not ended after this long expires: one hour, as the reference's parallel slots. */
const LEASE_MS = 3_600_000;
/** A stored total older than this is read again before it is used. */
const STALE_MS = 5_000;
/** A stored total older than this is read again in the background when it is used. */
const AHEAD_MS = 2_500;
/** Counters tried for an eviction: those with calls in flight stay. */
const EVICTION_TRIES = 8;
/** Least time between two LRU moves of a counter, in ms, because a move costs more than a look-up. */
const MOVE_MS = 1_000;

/** Reservation counts, for metrics. */
interface ReservationCounts {
  /** Reservations of calls in flight. */
  readonly open: number;
  /** Reservations that expired because they were not ended in time. Each is a bug or a call longer than the lease. */
  readonly expired: number;
}

export interface MemoryAdmission extends Admission {
  counts(): ReservationCounts;
}

interface MemoryAdmissionOptions {
  readonly totals: StoredTotals;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Called when a background read of stored totals failed. The totals in memory stay in use. */
  readonly failed: (error: unknown) => void;
  readonly countersLimit?: number;
  readonly leaseMs?: number;
  readonly staleMs?: number;
  readonly aheadMs?: number;
}

/**
 * Admission that counts in this process, over stored totals that several processes add to. The spend of this process is
 * exact. The spend of others is known with the next read: a total in use is read every 2.5 seconds in the background,
 * and one that is older than 5 seconds before it is used. So processes over one store exceed a limit together by at
 * most their spend within 5 seconds and the time to the commit of their records.
 */
export function createMemoryAdmission({
  totals,
  clock,
  failed,
  countersLimit = COUNTERS_LIMIT,
  leaseMs = LEASE_MS,
  staleMs = STALE_MS,
  aheadMs = AHEAD_MS,
}: MemoryAdmissionOptions): MemoryAdmission {
  const nowMs = (): number => clock.monotonicMs();
  /** Least recently used first. */
  const counters = new Map<string, UseCounter>();
  const reader: TotalsReader = createTotalsReader({ totals, nowMs, failed });
  const leases: Leases = { open: new Set(), expired: 0, leaseMs, nowMs, totals };

  function counterOf(name: string): UseCounter {
    const known = counters.get(name);
    if (known !== undefined) return known;
    const fresh = new UseCounter(name);
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
        // A call that has found it already puts it back.
        counter.movedMs = -Infinity;
        return;
      }
      counters.set(name, counter);
    }
  }

  /** Moves counters to the young end of the LRU. */
  function touch(charged: readonly Charged[], now: number): void {
    for (const { counter } of charged) {
      if (now - counter.movedMs < MOVE_MS) continue;
      counter.movedMs = now;
      counters.delete(counter.name);
      counters.set(counter.name, counter);
    }
  }

  /** Starts the reads that are due. Returns the ones to wait for; null when there are none. */
  function dueReads(charged: readonly Charged[], now: number): Promise<unknown> | null {
    let waits: Promise<void>[] | null = null;
    for (const { counter } of charged) {
      const age = now - counter.readMs;
      if (age < aheadMs || (counter.wasRead && now < counter.retryMs)) continue;
      if (counter.wasRead && age < staleMs) reader.readAhead(counter);
      else (waits ??= []).push(reader.readNow(counter));
    }
    return waits === null ? null : Promise.all(waits);
  }

  function look(charges: readonly Charge[], now: number): readonly Charged[] {
    expire(leases, now);
    return charges.map((charge) => ({ charge, counter: counterOf(charge.counter), progress: 0n }));
  }

  function admit(charged: readonly Charged[], now: number): Reservation | Refusal {
    const refusal = refusalOf(charged);
    if (refusal !== null) return refusal;
    touch(charged, now);
    return new MemoryReservation(charged, leases);
  }

  return {
    reserve(charges) {
      const now = nowMs();
      const charged = look(charges, now);
      const waits = dueReads(charged, now);
      return waits === null ? admit(charged, now) : waits.then(() => admit(charged, nowMs()));
    },
    check(charges) {
      const now = nowMs();
      const charged = look(charges, now);
      const waits = dueReads(charged, now);
      return waits === null ? refusalOf(charged) : waits.then(() => refusalOf(charged));
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

function refusalOf(charged: readonly Charged[]): Refusal | null {
  for (const { charge, counter } of charged)
    if (isRefused(charge, counter)) return { kind: 'refused', charge, used: counter.used, reserved: counter.reserved };
  return null;
}

/** The reservations of calls in flight, oldest lease first. */
interface Leases {
  readonly open: Set<MemoryReservation>;
  expired: number;
  readonly leaseMs: number;
  readonly nowMs: () => number;
  readonly totals: StoredTotals;
}

function expire(leases: Leases, now: number): void {
  for (const reservation of leases.open) {
    if (reservation.expiresMs > now) return;
    leases.expired += 1;
    reservation.expire();
  }
}

/** A charge of a call, and its counter. */
interface Charged {
  readonly charge: Charge;
  readonly counter: UseCounter;
  /** Amount counted by `progress`. */
  progress: bigint;
}

class MemoryReservation implements Reservation {
  readonly kind = 'reserved';
  expiresMs: number;
  readonly #charged: readonly Charged[];
  readonly #leases: Leases;
  /** Whether the amounts of its charges are reserved. */
  #holds = true;
  #open = true;

  constructor(charged: readonly Charged[], leases: Leases) {
    this.#charged = charged;
    this.#leases = leases;
    this.expiresMs = leases.nowMs() + leases.leaseMs;
    for (const { charge, counter } of charged) counter.hold(charge.amount);
    leases.open.add(this);
  }

  commit(actual: readonly bigint[]): void {
    if (!this.#open) return;
    this.#open = false;
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
    if (!this.#open) return;
    const { open, leaseMs, nowMs } = this.#leases;
    if (!open.delete(this)) for (const { counter } of this.#charged) counter.holds += 1;
    open.add(this);
    this.expiresMs = nowMs() + leaseMs;
    for (const [position, charged] of this.#charged.entries()) {
      const part = used[position] ?? 0n;
      charged.counter.progress += part;
      charged.progress += part;
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
    if (!this.#leases.open.delete(this)) return;
    for (const charged of this.#charged) {
      charged.counter.letGo(this.#holds ? charged.charge.amount : 0n, charged.progress);
      charged.progress = 0n;
    }
    this.#holds = false;
  }
}
