import type { ShareRequest, ShareAnswer } from '../../domain/admission/ledger.ts';
import { RATE_WINDOW_MS } from '../../domain/admission/rate-limits.ts';
import type { ShareHolder, Shares } from './shares.ts';

/** Ticks without a call after which an unused share is released. */
const IDLE_TICKS = 4;
/** A share returns surplus room when the surplus is larger than the rest of the limit divided by this number. */
const SURPLUS_DIVISOR = 16;

const roundedUp = (amount: number): bigint => BigInt(Math.ceil(amount));

/**
 * Share of one rate limit: requests or tokens of a window, or slots of open calls. It counts the use of this process.
 * Calls are admitted up to the ceiling that the ledger has granted.
 */
export class RateShare implements ShareHolder {
  readonly name: string;
  readonly kind: 'window' | 'slots';
  listed = false;
  queued = false;
  /** Use in the current window, or slots in use. */
  used = 0;
  #limit: number;
  readonly #shares: Shares;
  readonly #nowMs: () => number;
  /** Start of the window by the ledger's clock; null when none is known. */
  #window: number | null = null;
  /** End of the window by the clock of this process; infinity when none is known. */
  #endMs = Number.POSITIVE_INFINITY;
  /** Number of windows of this share so far. */
  #windows = 0;
  /** Use that belongs to the next window. */
  #carried = 0;
  /** Use up to which calls are admitted without asking the ledger. */
  #ceiling = 0;
  /** Rest of the limit above the ceiling, by the last answer of the ledger. */
  #left: number;
  /** Largest amount that the ledger may hold for this process: infinity from a request until its answer. */
  #heldInLedger = 0;
  /** `Shares.epoch` at the last request. */
  #epoch = 0;
  /** Whether the counter is new in this process: the ledger has not answered for it yet. */
  #joins = true;
  /** Sum of the amounts that calls wait for. */
  #waiting = 0;
  /** Amount that calls took since the last tick. */
  #taken = 0;
  /** Amount that calls took between the last two ticks. */
  #takenBefore = 0;
  /** Amount of the most recent call. */
  #lastAmount = 0;
  #idleTicks = 0;

  constructor({ name, kind, limit }: Pick<RateShare, 'name' | 'kind' | 'limit'>, shares: Shares, nowMs: () => number) {
    this.name = name;
    this.kind = kind;
    this.#limit = limit;
    this.#left = limit;
    this.#shares = shares;
    this.#nowMs = nowMs;
  }

  get limit(): number {
    return this.#limit;
  }

  /**
   * A lower limit applies immediately. Unused room that was granted under the higher limit is returned with the next
   * request.
   */
  set limit(limit: number) {
    if (limit === this.#limit) return;
    this.#left += limit - this.#limit;
    if (limit < this.#limit && this.used < this.#ceiling) {
      this.#left += this.#ceiling - this.used;
      this.#ceiling = this.used;
    }
    this.#limit = limit;
  }

  /** Number of the current window. Use in a window with another number no longer counts. */
  get window(): number {
    return this.#isOver() ? this.#windows + 1 : this.#windows;
  }

  /** Rest of the limit, as far as this process knows. */
  get left(): number {
    // Only the use of this process is known.
    if (this.#shares.isUnavailable() && !this.#isAnswerValid()) return this.limit - this.#localUse();
    // No use of the new window or the new epoch is known yet.
    if (this.#isOver() || (this.#epoch !== this.#shares.epoch() && !this.#isAnswerValid())) return this.limit;
    return this.#left + this.#ceiling - this.used;
  }

  /**
   * Whether the use of this process alone leaves no room for an amount. False after the end of the window while the
   * ledger is available: the ledger begins the next window.
   */
  isUsedUp(amount: number): boolean {
    return this.#localUse() + amount > this.limit && (this.#shares.isUnavailable() || !this.#isOver());
  }

  /** Whether an amount may be taken without a request to the ledger. Zero needs no share. */
  hasRoom(amount: number): boolean {
    if (this.#shares.isUnavailable()) return amount <= this.left;
    if (amount === 0) return this.left >= 0;
    return !this.#isOver() && this.#epoch === this.#shares.epoch() && this.used + amount <= this.#ceiling;
  }

  /** Takes an amount. A negative amount is returned to the limit. */
  take(amount: number): void {
    if (this.#shares.isUnavailable()) this.#countAlone();
    if (this.#isOver()) {
      this.#carried += amount;
      this.#shares.watch(this);
      return;
    }
    this.used += amount;
    if (amount > 0) {
      this.#taken += amount;
      this.#lastAmount = amount;
      this.#idleTicks = 0;
    }
    this.#shares.watch(this);
  }

  /** Asks the ledger for room for an amount. */
  async request(amount: number): Promise<void> {
    this.#waiting += amount;
    this.#lastAmount = amount;
    try {
      await this.#shares.requestShare(this);
    } finally {
      this.#waiting -= amount;
    }
  }

  nextRequest(): ShareRequest {
    const epoch = this.#shares.epoch();
    const isVoid = epoch !== this.#epoch;
    this.#epoch = epoch;
    // This process has counted the ended window alone, without the ledger.
    if (this.#isOver() && this.#window === null) this.#begin(null, Number.POSITIVE_INFINITY);
    // The ledger may have granted the room of an earlier epoch to other processes.
    const room = isVoid ? 0 : Math.max(0, this.#ceiling - this.used);
    const target = this.#target();
    const isNeeded = this.#waiting > 0;
    // For a waiting call, no room is kept. The whole target is requested, as `spare`.
    const kept = isNeeded || this.#isOver() ? 0 : Math.min(room, target);
    const held = this.used + kept;
    // Returned room is free for every process.
    if (held < this.#ceiling) this.#left += this.#ceiling - held;
    this.#ceiling = held;
    this.#heldInLedger = Number.POSITIVE_INFINITY;
    return {
      counter: this.name,
      kind: this.kind,
      limit: roundedUp(this.limit),
      held: roundedUp(Math.max(0, held)),
      need: roundedUp(this.#waiting),
      largest: 0n,
      atLimit: false,
      spare: roundedUp(isNeeded ? target : Math.max(0, target - room)),
      stored: 0n,
      base: null,
      joins: this.#joins,
      window: this.#window,
    };
  }

  answer({ granted, left, window, windowLeftMs }: ShareAnswer, ask: ShareRequest, sentMs: number): void {
    this.#joins = false;
    this.#heldInLedger = Number(ask.held + granted);
    const loweredBy = Math.max(0, Number(ask.limit) - this.#limit);
    // Room that was granted under a higher limit is not used. The next request returns it.
    const usableGrant = loweredBy > 0 ? 0 : Number(granted);
    this.#left = Number(left) - usableGrant - loweredBy;
    if (this.kind === 'window') {
      const endMs = sentMs + windowLeftMs;
      // The ledger has begun another window, in which `held` does not count.
      if (ask.window !== null && window !== ask.window) {
        this.#begin(window, endMs);
        this.#ceiling = usableGrant;
        return;
      }
      this.#window = window;
      this.#endMs = endMs;
      this.used += this.#carried;
      this.#carried = 0;
    }
    this.#ceiling = loweredBy > 0 ? this.used : Number(ask.held) + usableGrant;
  }

  tick(): 'ask' | 'stay' | 'unlist' {
    this.#takenBefore = this.#taken;
    this.#taken = 0;
    this.#idleTicks += 1;
    if (this.#isOver()) return this.#carried > 0 ? 'ask' : 'unlist';
    // After a short loss, the ledger has not removed this process and still holds its share.
    if (this.#epoch !== this.#shares.epoch()) return this.used > 0 || this.#heldInLedger > 0 ? 'ask' : 'unlist';
    const room = this.#ceiling - this.used;
    const target = this.#target();
    const surplus = room - target;
    if (room < 0 || (surplus > 0 && surplus * SURPLUS_DIVISOR > this.#left)) return 'ask';
    const isBelowHalf = 2 * room < target;
    if (isBelowHalf && this.#left > target) return 'ask';
    const isIdle = this.#idleTicks > IDLE_TICKS;
    // Return the remaining room first: a share that is not listed gets no ticks.
    if (isIdle && (room > 0 || this.#heldInLedger > Math.max(0, Math.ceil(this.used)))) return 'ask';
    return isIdle && (this.kind === 'window' || this.used === 0) ? 'unlist' : 'stay';
  }

  /** Whether this share can be evicted without losing a count. */
  isIdle(): boolean {
    if (this.queued || this.listed || this.#waiting > 0) return false;
    return this.kind === 'slots' ? this.used === 0 : this.#isOver();
  }

  /**
   * Whether the last answer is valid while the ledger is unavailable. For a window it is valid until the window ends.
   */
  #isAnswerValid(): boolean {
    if (this.kind === 'slots') return this.#shares.isAnswerValid(this.#epoch);
    return this.#window !== null && !this.#isOver() && this.#shares.isUnavailable();
  }

  #localUse(): number {
    return this.#isOver() ? this.#carried : this.used;
  }

  /** The room that this share should have. */
  #target(): number {
    if (this.#idleTicks > IDLE_TICKS) return 0;
    return Math.max(this.#takenBefore, this.#taken, this.#shares.timing.minSpareCalls * this.#lastAmount);
  }

  #isOver(): boolean {
    return this.kind === 'window' && this.#nowMs() >= this.#endMs;
  }

  /** Begins a window by the clock of this process, unless a window is open. */
  #countAlone(): void {
    if (this.kind === 'slots') return;
    const endMs = this.#nowMs() + RATE_WINDOW_MS;
    if (this.#isOver()) this.#begin(null, endMs);
    else if (this.#endMs === Number.POSITIVE_INFINITY) this.#endMs = endMs;
  }

  #begin(window: number | null, endMs: number): void {
    this.used = this.#carried;
    this.#carried = 0;
    this.#ceiling = 0;
    this.#window = window;
    this.#endMs = endMs;
    this.#windows += 1;
  }
}
