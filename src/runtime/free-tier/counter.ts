import {
  blockSize,
  dayText,
  type FreeTierCalls,
  type FreeTierStore,
  type FreeTierUsage,
} from '../../domain/free-tier/free-tier.ts';

/** How long a client that has used up its day is refused from memory: another process may give calls back. */
const FULL_MS = 10_000;
/** How long after a failure the next block is not asked for in advance. */
const RETRY_MS = 1_000;

/** What the counters of a process share. */
export interface CounterHouse {
  readonly store: FreeTierStore;
  readonly limit: number;
  /** How long the store may take to answer. */
  readonly answerMs: number;
  /** Milliseconds that only ever grow. */
  readonly monotonicMs: () => number;
  /** Told of a reservation made in advance that failed; nobody waited for it. */
  readonly failed: (error: unknown) => void;
}

/**
 * One client's calls of a day: hands out of memory what was reserved in the store before, and reserves the next
 * block before this one ends. Whatever is lost with the process counts as used, so the limit always holds.
 */
export class FreeTierCounter {
  readonly ipHash: string;
  /** Set by every call, cleared by whoever looks for clients that have left. */
  active = true;
  readonly #house: CounterHouse;
  #day: number;
  /** Reserved and not handed out. */
  #left = 0;
  /** When so few are left, the next block is asked for. */
  #refillAt = 0;
  /** Used by everybody, as last heard. */
  #used = 0;
  /** Callers who wait for a block. */
  #waiting = 0;
  #fullUntilMs = 0;
  #retryMs = 0;
  /** What is under way with the store; one thing at a time. */
  #busy: Promise<void> | null = null;
  #reading: Promise<number> | null = null;

  constructor(ipHash: string, day: number, house: CounterHouse) {
    this.ipHash = ipHash;
    this.#day = day;
    this.#house = house;
  }

  /** Whether anything is under way or awaited. */
  get busy(): boolean {
    return this.#busy !== null || this.#waiting > 0;
  }

  /** Takes one call of this day out of memory: `none` is used up, `ask` is not known here. */
  take(day: number): 'taken' | 'none' | 'ask' {
    this.active = true;
    if (day !== this.#day) this.#begin(day);
    if (this.#left > 0) {
      this.#left -= 1;
      if (this.#left <= this.#refillAt && this.#left > 0) this.#refill();
      return 'taken';
    }
    return this.#fullUntilMs > this.#house.monotonicMs() ? 'none' : 'ask';
  }

  /** As `take`, but asks the store until it is known. Rejects when that does not answer. */
  async takeAfterAsking(today: () => number): Promise<'taken' | 'none'> {
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

  /** What is used of this day: the store's count without what is still to hand out here. */
  async usage(today: () => number): Promise<FreeTierUsage> {
    const { limit } = this.#house;
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

  /** Stops handing out what is left and tells what that was; null when it is nothing. */
  surrender(): FreeTierCalls | null {
    const calls = this.#left;
    this.#left = 0;
    return calls === 0 ? null : { day: dayText(this.#day), ipHash: this.ipHash, calls };
  }

  /** Resolves when nothing is under way with the store. */
  async settled(): Promise<void> {
    while (this.#busy !== null) await this.#busy.catch(() => {});
  }

  /** What was left of another day is worth nothing on this one. */
  #begin(day: number): void {
    this.#day = day;
    this.#left = 0;
    this.#used = 0;
    this.#fullUntilMs = 0;
  }

  #refill(): void {
    if (this.#busy !== null || this.#used >= this.#house.limit) return;
    const nowMs = this.#house.monotonicMs();
    if (nowMs < this.#retryMs) return;
    this.#retryMs = nowMs + RETRY_MS;
    this.#reserve().catch(this.#house.failed);
  }

  #occupy(work: Promise<void>): Promise<void> {
    const busy = work.finally(() => {
      if (this.#busy === busy) this.#busy = null;
    });
    this.#busy = busy;
    return busy;
  }

  #reserve(): Promise<void> {
    const { store, limit, monotonicMs, answerMs } = this.#house;
    const day = this.#day;
    const calls = blockSize(limit, this.#used, this.#waiting);
    const asking = store.reserve({ day: dayText(day), ipHash: this.ipHash, calls }, limit);
    // What comes too late for those who waited is still there for those who come after.
    const answered = asking.then(({ granted, used }) => {
      this.#retryMs = 0;
      // Midnight came in between: these belong to a day that is over.
      if (day !== this.#day) return;
      this.#left += granted;
      this.#used = used;
      this.#refillAt = Math.floor(granted / 2);
      if (used >= limit) this.#fullUntilMs = monotonicMs() + FULL_MS;
    });
    return this.#occupy(inTime(answered, answerMs));
  }

  /** With nothing else under way, so that what the store counts and what is left here fit together. */
  async #read(today: () => number): Promise<number> {
    while (this.#busy !== null) await this.#busy.catch(() => {});
    const day = today();
    if (day !== this.#day) this.#begin(day);
    const { store, answerMs } = this.#house;
    let requests = 0;
    const answered = store.usedOn(dayText(day), this.ipHash).then((used) => {
      requests = Math.max(0, used - (day === this.#day ? this.#left : 0));
    });
    const reading = inTime(answered, answerMs);
    // A failed reading is the reader's failure, not of those who wait to be counted.
    void this.#occupy(reading.catch(() => {}));
    await reading;
    return requests;
  }
}

/** As the work settles, or rejects when it takes too long. */
async function inTime(work: Promise<void>, ms: number): Promise<void> {
  const late = Promise.withResolvers<never>();
  const alarm = setTimeout(() => late.reject(new Error(`The store has not answered in ${ms} ms.`)), ms);
  try {
    await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(alarm);
  }
}
