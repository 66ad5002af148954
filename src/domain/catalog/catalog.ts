import type { JsonObject } from '../json-object.ts';
import type { Rate } from '../money.ts';
import type { QuarantinedPrice } from './quarantine.ts';

/** A published model with its price and capabilities, from the price map. */
export interface CatalogEntry {
  /** Canonical identifier; may contain slashes and is case-sensitive. */
  readonly id: string;
  readonly provider: string | null;
  readonly mode: string | null;
  /**
   * The row of the price map, with all of its keys in the same order, `litellm_provider` included. A quarantined price
   * has its last accepted value, or is absent.
   */
  readonly row: JsonObject;
}

/** One immutable state of the catalog; readers keep it while they page through it. */
export interface CatalogSnapshot {
  /** Id of this state: equal data has equal ids. */
  readonly id: string;
  /** Time at which the data was fetched or, for the embedded snapshot, created. */
  readonly takenAt: Date;
  readonly source: 'embedded' | 'file' | 'upstream';
  /** In the order of the price map. */
  readonly entries: readonly CatalogEntry[];
  find(id: string): CatalogEntry | null;
}

/** Source and age of the catalog, and results of its checks. */
export interface CatalogStatus {
  readonly source: CatalogSnapshot['source'];
  readonly takenAt: Date;
  readonly count: number;
  /** Time of the last check of the source, with any outcome; null before the first check. */
  readonly lastCheckedAt: Date | null;
  /**
   * Why the last check failed, or refused the map, as a text that may be shown. Null after a successful check, and
   * before the first.
   */
  readonly lastError: string | null;
  /** Number of quarantined prices. */
  readonly quarantined: number;
  /** Number of checks of the source since the process started, by outcome. */
  readonly checks: Readonly<Record<CheckOutcome, number>>;
}

/**
 * Outcome of one check. `taken`: a new map was read and is served now. `unchanged`: the map is already served.
 * `refused`: a new map was read and is not served. `failed`: no map could be read.
 */
export type CheckOutcome = 'taken' | 'unchanged' | 'refused' | 'failed';

/** Source of the current catalog. Snapshots are replaced as a whole, never changed in place. */
export interface CatalogSource {
  current(): CatalogSnapshot;
}

/** A catalog that is refreshed from a source, with its status. */
export interface FollowedCatalog extends CatalogSource {
  status(): CatalogStatus;
  /** Checks the source now. Concurrent calls share one check. Never rejects: the outcome is in `status`. */
  refresh(): Promise<void>;
  /** Time of the next periodic check; null without one. */
  nextCheckAt(): Date | null;
  /** Time between two periodic checks in seconds; 0 for none. */
  readonly refreshSeconds: number;
  /** The snapshot with this id; null unless it is the current or a recent one. */
  findSnapshot(id: string): CatalogSnapshot | null;
  /** Quarantined prices, in the order of the entries. */
  quarantined(): readonly QuarantinedPrice[];
  /** Serves a quarantined price from now on, also after a restart. Returns it; null when no price has this id. */
  release(quarantineId: string, releasedBy: string): Promise<QuarantinedPrice | null>;
}

/** A compiled pattern. Matches anywhere in a text, letter case ignored. */
export interface Pattern {
  occursIn(text: string): boolean;
}

/** Compiles patterns in the syntax of Python's `re` for an engine with linear run time. */
export interface PatternCompiler {
  /** `fault` is the error text. Where Python refuses the pattern, too, it is Python's text. */
  compile(source: string): { readonly pattern: Pattern } | { readonly fault: string };
}

/** Prices per token, in attodollars; null where the price map or the configuration has no such price. */
export interface TokenPrices {
  readonly input: Rate | null;
  readonly output: Rate | null;
  readonly cacheRead: Rate | null;
  readonly cacheWrite: Rate | null;
  readonly reasoning: Rate | null;
}
