import type { Rate } from '../money.ts';
import type { HeldPrice } from './quarantine.ts';

/** A published model with price and capabilities, as the price map has it. */
export interface CatalogEntry {
  /** Canonical identifier; may contain slashes and is case-sensitive. */
  readonly id: string;
  readonly provider: string | null;
  readonly mode: string | null;
  /** Every key of the price map's row, unchanged and in its order, `litellm_provider` included. */
  readonly row: Readonly<Record<string, unknown>>;
}

/** One immutable state of the catalog; readers keep it for as long as they page through it. */
export interface CatalogSnapshot {
  /** Names this state: equal data has equal ids. */
  readonly id: string;
  /** When the data was fetched or, for the embedded snapshot, made. */
  readonly takenAt: Date;
  readonly source: 'embedded' | 'file' | 'upstream';
  /** In the price map's own order. */
  readonly entries: readonly CatalogEntry[];
  find(id: string): CatalogEntry | null;
}

/** How fresh the catalog is. */
export interface CatalogStatus {
  readonly source: CatalogSnapshot['source'];
  readonly takenAt: Date;
  readonly count: number;
  /** When the source was last asked, whatever came of it; null before the first time. */
  readonly lastCheckedAt: Date | null;
  /** Why the last answer was not taken; null when it was, or nothing was asked yet. Fit to show. */
  readonly lastError: string | null;
  /** Prices that are kept out. */
  readonly held: number;
  /** What came of every look at the source since the process began. */
  readonly looks: Readonly<Record<LookOutcome, number>>;
}

/** Taken: a map was read and is served. Refused: it was read and is not. Failed: there was nothing to read. */
export type LookOutcome = 'taken' | 'unchanged' | 'refused' | 'failed';

/** Gives the current catalog. Swapped whole, never changed in place. */
export interface CatalogSource {
  current(): CatalogSnapshot;
}

/** A catalog that follows a source and says how well it does. */
export interface FollowedCatalog extends CatalogSource {
  status(): CatalogStatus;
  /** The state with this id, while it is current or was a short while ago; null for every other. */
  at(id: string): CatalogSnapshot | null;
  /** Prices that are kept out, in the order of the entries. */
  held(): readonly HeldPrice[];
  /** Serves a held price from now on, over restarts too. Gives what was held; null when nothing has this id. */
  release(holdId: string, releasedBy: string): Promise<HeldPrice | null>;
}

/** A compiled pattern: whether it occurs anywhere in a text, letter case ignored. */
export interface Pattern {
  occursIn(text: string): boolean;
}

/** Compiles patterns in the syntax of Python's `re` on an engine that takes linear time. */
export interface PatternCompiler {
  /** `fault` says what is wrong, in Python's words where Python would refuse it too. */
  compile(source: string): { readonly pattern: Pattern } | { readonly fault: string };
}

/** What a token costs, in attodollars; null when the source has no such price. */
export interface TokenPrices {
  readonly input: Rate | null;
  readonly output: Rate | null;
  readonly cacheRead: Rate | null;
  readonly cacheWrite: Rate | null;
  readonly reasoning: Rate | null;
}
