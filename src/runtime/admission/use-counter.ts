import type { SpendShare } from './spend-share.ts';
import type { StoredTotals } from '../../domain/admission/stored-totals.ts';

/** Use of this process whose record is possibly not yet in the stored total. */
interface UnstoredUse {
  readonly position: number;
  readonly amount: bigint;
}

/**
 * One counter: the stored total as last read, and the use of this process that it does not include. A use is counted
 * with the position of its record. A read replaces the stored total, and drops exactly the uses whose records it
 * includes.
 */
export class UseCounter {
  readonly name: string;
  /** Expected amounts of calls in flight. */
  reserved = 0n;
  /** Use so far of calls in flight; their records follow at their end. */
  progress = 0n;
  /** Number of open reservations. */
  holds = 0;
  /** Time of its last move in the LRU of counters. */
  movedMs = -Infinity;
  /** Start of the read of the stored total; negative infinity before the first read. */
  readMs = -Infinity;
  /** After a failed or slow read: no call starts another before this time, unless the total was never read. */
  retryMs = -Infinity;
  /** Share of a budget that several processes count together; null when this process counts alone. */
  share: SpendShare | null = null;
  /** The read that is running or begins in the next microtask; null when there is none. */
  reading: Promise<void> | null = null;
  /** The stored total, plus uses that were stored after it was read. */
  #base = 0n;
  /** Whole use of this process by calls that have ended. */
  #own = 0n;
  /** Sum of `#unstored`. */
  #pending = 0n;
  /** Oldest first. */
  #unstored: UnstoredUse[] = [];

  constructor(name: string) {
    this.name = name;
  }

  get wasRead(): boolean {
    return this.readMs !== -Infinity;
  }

  get used(): bigint {
    return this.#base + this.#pending + this.progress;
  }

  /** Whole use of this process, with reserved amounts. */
  get held(): bigint {
    return this.#own + this.progress + this.reserved;
  }

  /** Part of the use of this process whose records are stored. */
  ownStoredUse(storedThrough: number): bigint {
    this.#settleStored(storedThrough);
    return this.#own - this.#pending;
  }

  hold(amount: bigint): void {
    this.holds += 1;
    this.reserved += amount;
  }

  removeHold(reserved: bigint, progress: bigint): void {
    this.holds -= 1;
    this.reserved -= reserved;
    this.progress -= progress;
  }

  /** Counts a use whose record is the latest. */
  add(amount: bigint, totals: StoredTotals): void {
    if (amount === 0n) return;
    this.#settleStored(totals.storedThrough());
    this.#own += amount;
    this.#pending += amount;
    this.#unstored.push({ position: totals.position(), amount });
    this.share?.changed();
  }

  /**
   * Replaces the stored total by one that includes every record of this process up to `through`. Returns the total
   * without the stored uses that this counter has counted.
   */
  take(total: bigint, through: number, readMs: number): bigint {
    this.#dropThrough(through);
    this.#base = total;
    this.readMs = readMs;
    return total - (this.#own - this.#pending);
  }

  /**
   * Moves stored uses into the base, because every later total includes them. While a read runs, it does nothing: the
   * total of that read may lack them.
   */
  #settleStored(storedThrough: number): void {
    const oldest = this.#unstored[0];
    if (oldest === undefined || this.reading !== null || oldest.position > storedThrough) return;
    this.#base += this.#dropThrough(storedThrough);
  }

  /** Whether an eviction would lose data: a call in flight, a running read, or a use that is not stored yet. */
  isBusy(storedThrough: number): boolean {
    const last = this.#unstored.at(-1);
    return this.holds > 0 || this.reading !== null || (last !== undefined && last.position > storedThrough);
  }

  /** Drops the uses with records up to this position; returns their sum. */
  #dropThrough(through: number): bigint {
    let count = 0;
    let sum = 0n;
    for (const { position, amount } of this.#unstored) {
      if (position > through) break;
      count += 1;
      sum += amount;
    }
    if (count > 0) this.#unstored.splice(0, count);
    this.#pending -= sum;
    return sum;
  }
}
