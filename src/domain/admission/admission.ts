/**
 * Admission control: the expected use of a call is reserved before the call, and replaced by its actual use after it.
 *
 * Each counter has a use (of calls that have ended) and a reserved amount (expected use of calls in flight). A call is
 * refused when the use has reached the limit (charges with `refused: 'at'`) or exceeds it (`'above'`). It is also
 * refused when the use and the reservations of other calls together have reached the limit. Otherwise the call is
 * admitted, and its expected amount is reserved, even if it is more than what is left. So a call is never refused for
 * its own size.
 *
 * Concurrent calls are bounded by each other's reservations. While calls use no more than their reservations, the use
 * exceeds the limit by less than one call. What calls use above their reservations is added to that excess.
 *
 * Counts are in memory, on top of stored totals. Several processes may share them through a `Ledger`.
 */
export interface Admission {
  /**
   * Reserves all charges or none; the first that does not fit is the refusal. Returns no promise when the counters in
   * memory are recent enough to decide. Rejects when a counter cannot be read and no earlier value is known.
   */
  reserve(charges: readonly Charge[]): Reservation | Refusal | Promise<Reservation | Refusal>;
  /** The refusal that `reserve` would return now; null when it would admit. Reserves nothing. */
  check(charges: readonly Charge[]): Refusal | null | Promise<Refusal | null>;
  /** Adds use without a reservation, e.g. of a batch that ended. Does nothing for a counter that is not in memory. */
  count(counter: string, amount: bigint): void;
  /** Use of a counter, reservations not included; null when the counter is not in memory, or was never read. */
  usedOf(counter: string): bigint | null;
}

/** Expected use of one counter by a call. */
export interface Charge {
  /** Name of the counter: scope, id, and the window where there is one, e.g. `key:<hash>`. */
  readonly counter: string;
  readonly limit: bigint;
  /**
   * Expected amount, in the counter's unit (picodollars for a budget). Zero reserves nothing, and only the use is
   * checked.
   */
  readonly amount: bigint;
  /** Whether a use equal to the limit is refused (`at`) or only a use above it (`above`). */
  readonly refused: 'at' | 'above';
}

/** A call that was not admitted, with the charge that was refused. */
export interface Refusal {
  readonly kind: 'refused';
  readonly charge: Charge;
  readonly used: bigint;
  /** Amount that other calls in flight have reserved. */
  readonly reserved: bigint;
}

/**
 * The reserved amounts of one admitted call. It ends once, by `commit` or `release`; repeating either changes nothing.
 * A reservation that is not ended within the implementation's lease expires: its amount is free again, and a later
 * `commit` still counts.
 */
export interface Reservation {
  readonly kind: 'reserved';
  /**
   * Ends the reservation with the actual use, one amount for each charge, in their order. First pass the call's record
   * to the recorder, which stores it. Implementations that read stored totals use the position of that record to find
   * what the totals include.
   */
  commit(actual: readonly bigint[]): void;
  /** Ends the reservation without use: the parts that `progress` counted are removed again. */
  release(): void;
  /**
   * Counts a part of the use during the call, e.g. one turn of a session, and renews the lease. The reservation stays,
   * for the next part. `commit` takes the whole use, these parts included.
   */
  progress(used: readonly bigint[]): void;
}
