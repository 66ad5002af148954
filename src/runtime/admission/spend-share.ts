import type { Charge } from '../../domain/admission/admission.ts';
import type { ShareRequest, LedgerBase, ShareAnswer } from '../../domain/admission/ledger.ts';
import type { ShareHolder, Shares } from './shares.ts';

/** Ticks without a call after which an unused share is released. */
const IDLE_TICKS = 4;
/**
 * A change is reported to the ledger at the next tick when it is larger than the rest of the limit divided by this
 * number.
 */
const CHANGE_DIVISOR = 16n;

/** Parts of a counter that a share reads. */
interface SharedCounter {
  readonly name: string;
  /** Whole use of this process, with reserved amounts. */
  readonly held: bigint;
  readonly reserved: bigint;
  /** Number of open reservations. */
  readonly holds: number;
  /** Use of this process whose records are stored. */
  ownStoredUse(storedThrough: number): bigint;
  isBusy(storedThrough: number): boolean;
}

const larger = (one: bigint, other: bigint): bigint => (one > other ? one : other);
const smaller = (one: bigint, other: bigint): bigint => (one < other ? one : other);

/**
 * Share of a budget. Its ceiling is a limit on the whole use of this process since the counter was created, reserved
 * amounts included. So a grant stays valid when a use is stored. The base of the ledger is the stored total without the
 * amounts that its members, the processes with a lease, have stored: nothing counts twice.
 */
export class SpendShare implements ShareHolder {
  listed = false;
  queued = false;
  readonly #counter: SharedCounter;
  readonly #shares: Shares;
  readonly #storedThrough: () => number;
  /** Starts a read of the stored total. */
  readonly #reread: () => void;
  /** Limit of the last request. */
  #limit = 0n;
  /** Use up to which amounts are reserved without asking the ledger. */
  #ceiling = 0n;
  /** Rest of the limit above the ceiling, by the last answer of the ledger. */
  #left = 0n;
  /** `Shares.epoch` at the last request. */
  #epoch = 0;
  /** Whether the counter is new in this process: the ledger has not answered for it yet. */
  #joins = true;
  /** False after an answer that the ledger lacks this counter or its stored total. True before the first answer. */
  #isKnown = true;
  #base: LedgerBase | null = null;
  /** Stored use that was reported to the ledger. */
  #reported = 0n;
  /** Sum of the amounts that calls wait for. */
  #waiting = 0n;
  /** Largest amount that a call waits for. */
  #largest = 0n;
  /** Whether a waiting charge is admitted when the use equals the limit. */
  #atLimit = false;
  /** Amount reserved since the last tick. */
  #taken = 0n;
  /** Amount reserved between the last two ticks. */
  #takenBefore = 0n;
  /** Amount of the most recent call. */
  #lastAmount = 0n;
  #idleTicks = 0;

  constructor(
    counter: SharedCounter,
    shares: Shares,
    about: { readonly storedThrough: () => number; readonly reread: () => void },
  ) {
    this.#counter = counter;
    this.#shares = shares;
    this.#storedThrough = about.storedThrough;
    this.#reread = about.reread;
  }

  /** Whether the ledger lacks the stored total of this counter. */
  get needsBase(): boolean {
    return !this.#isKnown && this.#base === null;
  }

  /** Sets the base: the stored total less the amounts that members of the ledger have stored. */
  takeBase(base: LedgerBase): void {
    this.#base = base;
    this.#shares.watch(this);
  }

  /** Whether the amount of a charge may be reserved without asking the ledger. */
  hasRoom({ limit, amount, refused }: Charge): boolean {
    if (amount === 0n) return true;
    // While the ledger is unavailable, its last answer decides as long as it is valid. After that, only the stored
    // totals limit the use. The caller checks them.
    if (this.#shares.isUnavailable()) return !this.#isAnswerValid() || this.leftOf(limit) > 0n;
    if (this.#epoch !== this.#shares.epoch() || !this.#isKnown) return false;
    const left = this.leftOf(limit);
    // A charge that is refused only above the limit is also admitted at the limit, while nothing is reserved.
    const isLeft = left > 0n || (left === 0n && refused === 'above' && this.#counter.reserved === 0n);
    // The ceiling was granted under `#limit`. A lower limit lowers it.
    return isLeft && this.#counter.held + amount <= this.#ceiling - larger(0n, this.#limit - limit);
  }

  /** Rest of a limit, as far as this process knows. */
  leftOf(limit: bigint): bigint {
    return this.#left + this.#ceiling - this.#counter.held + limit - this.#limit;
  }

  /** Whether the last answer of the ledger is valid and leaves no room for a charge. */
  isRefused({ limit }: Charge): boolean {
    return this.#isAnswerValid() && this.leftOf(limit) <= 0n;
  }

  /** Counts a reserved amount. */
  addReserved(amount: bigint): void {
    this.#taken += amount;
    this.#lastAmount = amount;
    this.#idleTicks = 0;
    this.#shares.watch(this);
  }

  /** Called after the use of the counter has changed: the next tick decides whether to report it. */
  changed(): void {
    this.#shares.watch(this);
  }

  /** Asks the ledger for room for a charge. */
  async request({ limit, amount, refused }: Charge): Promise<void> {
    this.#limit = limit;
    this.#waiting += amount;
    this.#lastAmount = amount;
    this.#largest = larger(this.#largest, amount);
    this.#atLimit = refused === 'above' && this.#counter.reserved === 0n;
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
    const counter = this.#counter;
    // The ledger may have granted the room of an earlier epoch to other processes.
    const room = isVoid ? 0n : larger(0n, this.#ceiling - counter.held);
    const target = this.#target();
    const isNeeded = this.#waiting > 0n;
    // For a waiting call, no room is kept. The whole target is requested, as `spare`.
    const kept = isNeeded || !this.#isKnown ? 0n : smaller(room, target);
    const held = counter.held + kept;
    const ask: ShareRequest = {
      counter: counter.name,
      kind: 'spend',
      limit: this.#limit,
      held,
      need: this.#waiting,
      largest: this.#largest,
      atLimit: this.#atLimit,
      spare: isNeeded ? target : larger(0n, target - room),
      stored: counter.ownStoredUse(this.#storedThrough()),
      base: this.#base,
      joins: this.#joins,
      window: null,
    };
    // Returned room is free for every process.
    if (held < this.#ceiling) this.#left += this.#ceiling - held;
    this.#ceiling = held;
    this.#largest = 0n;
    this.#atLimit = false;
    this.#base = null;
    return ask;
  }

  answer({ known, granted, left }: ShareAnswer, ask: ShareRequest): void {
    this.#isKnown = known;
    if (!known) {
      this.#ceiling = ask.held;
      this.#reread();
      return;
    }
    this.#joins = false;
    this.#reported = ask.stored;
    // `left` is the rest before the grant, under the limit of the request. A later call may have set another limit.
    this.#left = left - granted + this.#limit - ask.limit;
    this.#ceiling = ask.held + granted;
  }

  tick(): 'ask' | 'stay' | 'unlist' {
    this.#takenBefore = this.#taken;
    this.#taken = 0n;
    this.#idleTicks += 1;
    const counter = this.#counter;
    // Without a base there is nothing to ask. `takeBase` lists the share again.
    if (!this.#isKnown) return this.#base === null ? 'unlist' : 'ask';
    const room = this.#ceiling - counter.held;
    if (room < 0n || this.#base !== null || this.#epoch !== this.#shares.epoch()) return 'ask';
    const target = this.#target();
    const unreported = counter.ownStoredUse(this.#storedThrough()) - this.#reported;
    const surplus = room - target;
    if (larger(surplus, unreported) * CHANGE_DIVISOR > larger(0n, this.#left)) return 'ask';
    const isBelowHalf = 2n * room < target;
    if (isBelowHalf && this.#left > target) return 'ask';
    // Return the remaining room first: a share that is not listed gets no ticks.
    if (this.#idleTicks > IDLE_TICKS && room > 0n) return 'ask';
    const isIdle = this.#idleTicks > IDLE_TICKS && counter.holds === 0 && !counter.isBusy(this.#storedThrough());
    return isIdle && unreported === 0n ? 'unlist' : 'stay';
  }

  /** Whether the last answer of the ledger is valid. */
  #isAnswerValid(): boolean {
    return this.#isKnown && !this.#joins && this.#shares.isAnswerValid(this.#epoch);
  }

  /** The room that this share should have. */
  #target(): bigint {
    if (this.#idleTicks > IDLE_TICKS) return 0n;
    return larger(larger(this.#takenBefore, this.#taken), BigInt(this.#shares.timing.minSpareCalls) * this.#lastAmount);
  }
}
