/**
 * Kind of a counter of the ledger.
 *
 * - `spend`: use of a budget. It grows and is never reset; the database has its stored total.
 * - `window`: requests or tokens of a window of a minute, by the clock of the ledger.
 * - `slots`: calls under way.
 */
export type LedgerKind = 'spend' | 'window' | 'slots';

/**
 * Stored total of a counter, without the parts that members of the ledger have stored. Members are the processes with a
 * lease.
 */
export interface LedgerBase {
  readonly value: bigint;
  /** Version of the list of members for which the value was computed. The ledger ignores a base for another version. */
  readonly version: number;
}

/**
 * Request of a process for its share of one counter: the counter's state in this process, and the needed amount. Every
 * amount is absolute, so that a repeated request changes nothing.
 */
export interface ShareRequest {
  readonly counter: string;
  readonly kind: LedgerKind;
  readonly limit: bigint;
  /** Amount that this process has used, has reserved for calls, or keeps for later calls. */
  readonly held: bigint;
  /** Further amount that waiting calls need. */
  readonly need: bigint;
  /**
   * Amount of the largest waiting call. A call larger than what is left of a budget is admitted while anything is left.
   */
  readonly largest: bigint;
  /** Whether a use equal to the limit is admitted while nothing is reserved. For budgets only. */
  readonly atLimit: boolean;
  /** Further amount to keep for later calls. The ledger grants at most what is left divided by `spareDivisor`. */
  readonly spare: bigint;
  /** Part of the use of this process that the stored total includes. For budgets only. */
  readonly stored: bigint;
  /** For budgets only; null when the stored total was not read since the last request. */
  readonly base: LedgerBase | null;
  /**
   * Whether this counter is new in this process. If so, the ledger discards an earlier share of the process: the
   * process has evicted the counter of that share.
   */
  readonly joins: boolean;
  /** Start of the window that `held` belongs to, by the ledger's clock; null when no window is known. */
  readonly window: number | null;
}

/** Answer to a request. */
export interface ShareAnswer {
  /**
   * False when the ledger needs a base for its current list of members and the request has none. The ledger needs one
   * after it has lost the counter, and for a process that has stored use and is not a member. Repeat the request with a
   * fresh base from the store.
   */
  readonly known: boolean;
  /** Further amount that this process may use. */
  readonly granted: bigint;
  /** What was left of the limit before the grant: the limit minus `held`, the base and the parts of other processes. */
  readonly left: bigint;
  /**
   * Start of the window by the ledger's clock, for windows only. When it differs from the window of the request, `held`
   * counts in no window any more.
   */
  readonly window: number;
  /** Remaining time of the window, for windows only. */
  readonly windowLeftMs: number;
}

export interface LedgerAnswer {
  /** Answers in the order of the requests. */
  readonly shares: readonly ShareAnswer[];
  /** Whether the process had no lease: it is new, its lease had ended, or the ledger has lost its data. */
  readonly isNew: boolean;
}

/** State of a counter before its stored total is read. */
export interface LedgerSnapshot {
  /** Zero when the ledger does not know the counter. */
  readonly version: number;
  /** Sum of what the other members have stored. */
  readonly stored: bigint;
}

/**
 * Counters that several processes share. Each process holds a part of a limit, its share, and admits calls from it
 * without asking. All parts together never exceed the limit, except by one call of a budget.
 *
 * When a process sends no request for the length of its lease, its shares expire. Its slots are then free. Of its use
 * of budgets, only the stored part stays counted. Its use of a window stays counted until the window ends. A process
 * that was stalled reports its shares again. Until its open calls end, they may exceed a limit of slots.
 */
export interface Ledger {
  /**
   * Answers requests in their order, in one round trip, and renews the lease of the process. Rejects when the ledger
   * does not answer.
   */
  requestShares(process: string, requests: readonly ShareRequest[]): Promise<LedgerAnswer>;
  /** Snapshots of spend counters, in their order. */
  snapshot(process: string, counters: readonly string[]): Promise<readonly LedgerSnapshot[]>;
  /** Ends the lease of the process. */
  leave(process: string): Promise<void>;
  close(): Promise<void>;
}

/** Lease of a process, in ms. */
export const LEDGER_LEASE_MS = 15_000;

/**
 * Divisor of what is left of a limit. The quotient is the most that one request may keep for later calls: half for a
 * single process, and much less for one of several.
 */
export const spareDivisor = (processes: number): number => (processes <= 1 ? 2 : 8 * processes);
