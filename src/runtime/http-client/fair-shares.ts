/** Number of shares above which those without a call are dropped. Most owners soon send another call. */
const SHARES_LIMIT = 1_000;

/** A call that waits for a connection. */
export interface WaitingCall {
  /** Called when the call gets its slot. Must not throw. */
  start(): void;
}

/** Calls of one owner at one origin. */
export interface Share {
  readonly owner: string;
  /** Slots in use. */
  slotsInUse: number;
  /** Calls without a slot, oldest first. */
  readonly waiting: Set<WaitingCall>;
}

/**
 * Divides the connections to one origin among owners.
 *
 * An owner gets a slot while it holds less than `fraction` of the slots that other owners do not use. With the default
 * of 3/4, a single owner uses at most three quarters of the limit, and two owners use at most 3/7 each. So a slot stays
 * free for an owner that has none: such an owner gets any free slot. Slots in use are never revoked; they become free
 * when their calls end. A free slot goes to the waiting owner that holds the fewest, for its oldest call.
 *
 * With free slots, `enter` costs two counter updates and one map look-up.
 */
export class FairSlots {
  readonly #limit: number;
  /** Slots an owner may hold for every free one: fraction / (1 - fraction). */
  readonly #perFree: number;
  readonly #shares = new Map<string, Share>();
  /** Shares with waiting calls; of two with equally many slots the first in this order is served first. */
  readonly #sharesWithWaiters = new Set<Share>();
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

  /** Starts a call now, or queues it. Each started call ends with `leave`, each other call with `withdraw`. */
  enter(owner: string, waiter: WaitingCall): Share {
    let share = this.#shares.get(owner);
    if (share === undefined) {
      share = { owner, slotsInUse: 0, waiting: new Set() };
      this.#shares.set(owner, share);
    }
    if (share.waiting.size === 0 && this.#mayTake(share)) {
      this.#occupySlot(share);
      waiter.start();
      return share;
    }
    share.waiting.add(waiter);
    this.#waiting += 1;
    this.#sharesWithWaiters.add(share);
    return share;
  }

  /** Returns the slot of a call that has ended. */
  leave(share: Share): void {
    share.slotsInUse -= 1;
    this.#used -= 1;
    this.#dropUnused(share);
    if (this.#waiting > 0) this.#serve();
  }

  /** Removes a call from the queue. */
  withdraw(share: Share, waiter: WaitingCall): void {
    if (!share.waiting.delete(waiter)) return;
    this.#waiting -= 1;
    if (share.waiting.size === 0) this.#sharesWithWaiters.delete(share);
    this.#dropUnused(share);
  }

  #mayTake({ slotsInUse }: Share): boolean {
    const free = this.#limit - this.#used;
    return free > 0 && (slotsInUse === 0 || slotsInUse < this.#perFree * free);
  }

  #occupySlot(share: Share): void {
    share.slotsInUse += 1;
    this.#used += 1;
  }

  #dropUnused(share: Share): void {
    if (share.slotsInUse > 0 || share.waiting.size > 0 || this.#shares.size <= SHARES_LIMIT) return;
    this.#shares.delete(share.owner);
  }

  /**
   * Starts waiting calls while slots are free. The running loop also assigns the slot of a call that ends inside its
   * start.
   */
  #serve(): void {
    if (this.#serving) return;
    this.#serving = true;
    for (let share = this.#next(); share !== null; share = this.#next()) {
      const [waiter] = share.waiting;
      if (waiter === undefined) break;
      share.waiting.delete(waiter);
      this.#waiting -= 1;
      this.#sharesWithWaiters.delete(share);
      // At the end, so that shares with equally many slots take turns.
      if (share.waiting.size > 0) this.#sharesWithWaiters.add(share);
      this.#occupySlot(share);
      waiter.start();
    }
    this.#serving = false;
  }

  /**
   * The waiting owner with the fewest slots. Null when none waits, or when that owner may not take a slot: then no
   * other owner may, because each has at least as many.
   */
  #next(): Share | null {
    let least: Share | null = null;
    for (const share of this.#sharesWithWaiters) {
      if (least === null || share.slotsInUse < least.slotsInUse) least = share;
      if (least.slotsInUse === 0) break;
    }
    return least !== null && this.#mayTake(least) ? least : null;
  }
}
