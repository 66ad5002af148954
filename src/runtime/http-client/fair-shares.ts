/** Cached owners without a call: most send the next one soon. */
const SHARES_LIMIT = 1_000;

/** A call that waits for a connection. */
export interface Waiter {
  /** The call has its slot now. Must not throw. */
  start(): void;
}

/** Calls of one owner at one origin. */
export interface Share {
  readonly owner: string;
  /** Slots in use. */
  held: number;
  /** Calls without a slot, oldest first. */
  readonly waiting: Set<Waiter>;
}

/**
 * Divides the connections to one origin among owners.
 *
 * An owner gets a slot while it holds less than `fraction` of the slots that other owners do not use. With the default
 * of 3/4 a single owner uses at most three quarters of the limit, two at most 3/7 each, and so on: a slot stays free
 * for an owner that has none. Slots held are never taken away; they become free when their calls end. A free slot goes
 * to the waiting owner that holds the fewest, and to the oldest call of it.
 *
 * With free slots a call costs two counter updates and one map look-up.
 */
export class FairSlots {
  readonly #limit: number;
  /** Slots an owner may hold for every free one: fraction / (1 - fraction). */
  readonly #perFree: number;
  readonly #shares = new Map<string, Share>();
  /** Shares with waiting calls; of two with equally many slots the first in this order is served first. */
  readonly #starved = new Set<Share>();
  #used = 0;
  #waiting = 0;
  #serving = false;

  constructor({ limit, fraction }: { readonly limit: number; readonly fraction: number }) {
    this.#limit = limit;
    this.#perFree = fraction >= 1 ? Number.POSITIVE_INFINITY : fraction / (1 - fraction);
  }

  /** Slots in use. */
  get used(): number {
    return this.#used;
  }

  /** Calls that wait for a slot. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Starts a call now, or queues it. Each call ends with `leave` if it was started, else with `withdraw`. */
  enter(owner: string, waiter: Waiter): Share {
    let share = this.#shares.get(owner);
    if (share === undefined) {
      share = { owner, held: 0, waiting: new Set() };
      this.#shares.set(owner, share);
    }
    if (share.waiting.size === 0 && this.#mayTake(share)) {
      this.#take(share);
      waiter.start();
      return share;
    }
    share.waiting.add(waiter);
    this.#waiting += 1;
    this.#starved.add(share);
    return share;
  }

  /** Returns a slot. */
  leave(share: Share): void {
    share.held -= 1;
    this.#used -= 1;
    this.#drop(share);
    if (this.#waiting > 0) this.#serve();
  }

  /** Removes a call from the queue. */
  withdraw(share: Share, waiter: Waiter): void {
    if (!share.waiting.delete(waiter)) return;
    this.#waiting -= 1;
    if (share.waiting.size === 0) this.#starved.delete(share);
    this.#drop(share);
  }

  #mayTake({ held }: Share): boolean {
    const free = this.#limit - this.#used;
    return free > 0 && (held === 0 || held < this.#perFree * free);
  }

  #take(share: Share): void {
    share.held += 1;
    this.#used += 1;
  }

  #drop(share: Share): void {
    if (share.held > 0 || share.waiting.size > 0 || this.#shares.size <= SHARES_LIMIT) return;
    this.#shares.delete(share.owner);
  }

  /** Starts waiting calls while slots are free. A call that ends inside its start is served by the running loop. */
  #serve(): void {
    if (this.#serving) return;
    this.#serving = true;
    for (let share = this.#next(); share !== null; share = this.#next()) {
      const [waiter] = share.waiting;
      if (waiter === undefined) break;
      share.waiting.delete(waiter);
      this.#waiting -= 1;
      this.#starved.delete(share);
      // Behind the others that hold as many.
      if (share.waiting.size > 0) this.#starved.add(share);
      this.#take(share);
      waiter.start();
    }
    this.#serving = false;
  }

  /** The waiting owner with the fewest slots; null when it may not take one, as then no other may. */
  #next(): Share | null {
    let least: Share | null = null;
    for (const share of this.#starved) {
      if (least === null || share.held < least.held) least = share;
      if (least.held === 0) break;
    }
    return least !== null && this.#mayTake(least) ? least : null;
  }
}
