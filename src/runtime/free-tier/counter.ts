import {
  blockSize,
  dayNumberText,
  type FreeTierCalls,
  type FreeTierStore,
  type FreeTierUsage,
} from '../../domain/free-tier/free-tier.ts';
import { withDeadline } from '../../domain/with-deadline.ts';

/**
 * Time for which a client without calls left is refused without a store query, in ms. Another process may return calls.
 */
const USED_UP_VALID_MS = 10_000;
/** Delay of the next advance reservation after a failure, in ms. */
const RETRY_MS = 1_000;

/** Dependencies shared by the counters of a process. */
export interface CounterContext {
  readonly store: FreeTierStore;
  readonly limit: number;
  /** Timeout of the store, in ms. */
  readonly answerMs: number;
  /** Monotonic time in ms. */
  readonly monotonicMs: () => number;
  /** Called when an advance reservation failed. */
  readonly failed: (error: unknown) => void;
}

/**
 * Counter of one client and day. It reserves a block of calls in the store and grants them from memory. It reserves the
 * next block before the current one is used up. Calls that are lost with the process count as used, so the limit is
 * never exceeded.
 */
export class FreeTierCounter {
  readonly ipHash: string;
  /**
   * True after each call and query. A sweep or eviction sets it to false, or removes a counter that is inactive and not
   * busy.
   */
  active = true;
  readonly #context: CounterContext;
  #day: number;
  /** Calls that are reserved and not granted yet. */
  #left = 0;
  /** Number of remaining calls at which the next block is reserved. */
  #refillAt = 0;
  /** Calls that all processes have reserved on this day, as of the last reservation. */
  #used = 0;
  /** Number of callers that wait for a block. */
  #waiting = 0;
  /** Until this time the calls of the day count as used up. */
  #fullUntilMs = 0;
  /** Before this time no further block is reserved in advance. */
  #retryMs = 0;
  /** The running store operation; one at a time. */
  #busy: Promise<void> | null = null;
  /** The running query of `usage`, shared by concurrent callers. */
  #reading: Promise<number> | null = null;

  constructor(ipHash: string, day: number, context: CounterContext) {
    this.ipHash = ipHash;
    this.#day = day;
    this.#context = context;
  }

  /** Whether a store operation is running or awaited. */
  get busy(): boolean {
    return this.#busy !== null || this.#waiting > 0;
  }

  /** Grants one call of this day from memory. `ask`: the store must be asked (`takeWithStore`). */
  take(day: number): 'taken' | 'used up' | 'ask' {
    this.active = true;
    if (day !== this.#day) this.#begin(day);
    if (this.#left > 0) {
      this.#left -= 1;
      if (this.#left <= this.#refillAt && this.#left > 0) this.#refill();
      return 'taken';
    }
    return this.#fullUntilMs > this.#context.monotonicMs() ? 'used up' : 'ask';
  }

  /** As `take`, with store queries. Rejects when the store fails or does not answer in time. */
  async takeWithStore(today: () => number): Promise<'taken' | 'used up'> {
    this.#waiting += 1;
    try {
      for (;;) {
        await (this.#busy ?? this.#reserve());
        const taken = this.take(today());
        if (taken !== 'ask') return taken;
      }
    } finally {
      this.#waiting -= 1;
    }
  }

  /** Use of this day: the store's count without the calls that this process has reserved and not granted. */
  async usage(today: () => number): Promise<FreeTierUsage> {
    const { limit } = this.#context;
    this.active = true;
    const requestsToday = await (this.#reading ??= this.#read(today).finally(() => {
      this.#reading = null;
    }));
    return {
      ipHash: this.ipHash,
      requestsToday,
      dailyLimit: limit,
      remaining: Math.max(0, limit - requestsToday),
    };
  }

  /** Returns the remaining calls and grants no more of them; null when there are none. */
  takeUnused(): FreeTierCalls | null {
    const calls = this.#left;
    this.#left = 0;
    return calls === 0 ? null : { day: dayNumberText(this.#day), ipHash: this.ipHash, calls };
  }

  /** Resolves when no store operation is running. */
  async settled(): Promise<void> {
    while (this.#busy !== null) await this.#busy.catch(() => {});
  }

  /** Begins another day. Remaining calls of the previous day expire. */
  #begin(day: number): void {
    this.#day = day;
    this.#left = 0;
    this.#used = 0;
    this.#fullUntilMs = 0;
  }

  #refill(): void {
    if (this.#busy !== null || this.#used >= this.#context.limit) return;
    const nowMs = this.#context.monotonicMs();
    if (nowMs < this.#retryMs) return;
    this.#retryMs = nowMs + RETRY_MS;
    this.#reserve().catch(this.#context.failed);
  }

  #occupy(work: Promise<void>): Promise<void> {
    const busy = work.finally(() => {
      if (this.#busy === busy) this.#busy = null;
    });
    this.#busy = busy;
    return busy;
  }

  #reserve(): Promise<void> {
    const { store, limit, monotonicMs, answerMs } = this.#context;
    const day = this.#day;
    const calls = blockSize(limit, this.#used, this.#waiting);
    const asking = store.reserve({ day: dayNumberText(day), ipHash: this.ipHash, calls }, limit);
    // A result that arrives after the timeout is used for later callers.
    const answered = asking.then(({ granted, used }) => {
      this.#retryMs = 0;
      // Midnight has passed: these calls belong to a past day.
      if (day !== this.#day) return;
      this.#left += granted;
      this.#used = used;
      this.#refillAt = Math.floor(granted / 2);
      if (used >= limit) this.#fullUntilMs = monotonicMs() + USED_UP_VALID_MS;
    });
    return this.#occupy(withTimeout(answered, answerMs));
  }

  /** Runs while no other store operation runs, so that the store's count and the calls left here are consistent. */
  async #read(today: () => number): Promise<number> {
    await this.settled();
    const day = today();
    if (day !== this.#day) this.#begin(day);
    const { store, answerMs } = this.#context;
    let requests = 0;
    const answered = store.usedOn(dayNumberText(day), this.ipHash).then((used) => {
      requests = Math.max(0, used - (day === this.#day ? this.#left : 0));
    });
    const reading = withTimeout(answered, answerMs);
    // A failed read rejects its reader only, not the calls that wait to be counted.
    void this.#occupy(reading.catch(() => {}));
    await reading;
    return requests;
  }
}

/** Rejects when the store does not answer within the timeout. */
const withTimeout = (work: Promise<void>, ms: number): Promise<void> =>
  withDeadline(work, ms, () => {
    throw new Error(`The store has not answered in ${ms} ms.`);
  });
