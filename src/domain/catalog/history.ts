import { type CatalogChange, type ChangeOp, type FieldKind, fieldKindOf, type WatchedFields } from './changes.ts';

/** Where a change stands among all: newest first means falling by instant, then number, then key. */
export interface ChangePosition {
  readonly atMs: number;
  readonly number: number;
  readonly key: string;
}

/** A change and its place in the history. */
export interface ListedChange {
  readonly change: CatalogChange;
  readonly position: ChangePosition;
}

/** Which changes are meant; null leaves a filter out, and all given must hold. */
export interface ChangeFilters {
  readonly entryId: string | null;
  /** Letter case ignored. */
  readonly provider: string | null;
  readonly field: string | null;
  /** Of fields only: entries that came or went are of no kind. */
  readonly kind: FieldKind | null;
  readonly op: ChangeOp | null;
  /** Inclusive. */
  readonly from: Date | null;
  /** Exclusive. */
  readonly to: Date | null;
}

/** Whether a change passes every filter but those of time. */
export function passesFilters(
  { entryId, provider, field, op }: CatalogChange,
  filters: Omit<ChangeFilters, 'from' | 'to'>,
): boolean {
  return (
    (filters.entryId === null || filters.entryId === entryId) &&
    (filters.provider === null || filters.provider.toLowerCase() === provider?.toLowerCase()) &&
    (filters.field === null || filters.field === field) &&
    (filters.kind === null || (field !== null && filters.kind === fieldKindOf(field))) &&
    (filters.op === null || filters.op === op)
  );
}

/** A time during which every change of the catalog was noted. */
export interface HistorySpan {
  readonly source: 'recorded' | 'imported';
  readonly from: Date;
  /** Inclusive; null while it goes on. */
  readonly to: Date | null;
}

/** What is known of one entry's prices over time. */
export interface EntryHistory {
  readonly entryId: string;
  /** The changes of its prices, its coming and its going, oldest first. */
  readonly changes: readonly CatalogChange[];
  /** False when there are older changes than those read. */
  readonly complete: boolean;
  /** Its fields as recorded last; null when it was not in the catalog then. */
  readonly fields: WatchedFields | null;
  /** When history was kept at all; the same for every entry. */
  readonly spans: readonly HistorySpan[];
}

/** The state of the catalog that was recorded last. */
export interface RecordHead {
  readonly snapshotId: string;
  /** When that state was made, as the snapshot says. */
  readonly takenAt: Date;
  /** When it was recorded: no change that is recorded is younger. */
  readonly seenAt: Date;
  /** When it was last known to be what is published. */
  readonly confirmedAt: Date;
}

/** The step from the state recorded last to the next. */
export interface RecordStep {
  /** The head this step starts from; null for the very first, which says what is there and changes nothing. */
  readonly from: string | null;
  readonly head: RecordHead;
  readonly changes: readonly CatalogChange[];
  /** Every entry that differs, as it is now; null when it is gone. */
  readonly entries: readonly RecordedEntry<WatchedFields | null>[];
}

/** What was recorded last of one entry. */
export interface RecordedEntry<Fields = WatchedFields> {
  readonly entryId: string;
  readonly fields: Fields;
}

/**
 * Where the catalog's past is kept. It begins with the first state recorded and may be given an older past by
 * import. Nothing is ever thrown away: some megabytes a year at the pace of the published map.
 */
export interface CatalogHistory {
  /** The state recorded last; null before the first. */
  head(): Promise<RecordHead | null>;
  /** Entries of the state recorded last, by id, behind `after`; at most `limit`. */
  recorded(after: string | null, limit: number): Promise<readonly RecordedEntry[]>;
  /**
   * Takes a step, whole or not at all, when the head is where the step starts from. Resolves to the head that
   * holds afterwards: another than the step's when somebody was faster, and then nothing was written. So the
   * same step taken twice, or by two processes, is taken once.
   */
  record(step: RecordStep): Promise<RecordHead>;
  /** Notes that this state is still what is published at an instant, unless another is on record by now. */
  confirm(snapshotId: string, at: Date): Promise<void>;
  /**
   * Imports changes in their order, numbered from `first`. Those that are there already are left alone, as are those
   * from after the first recorded state: what this installation saw itself stands. Resolves to how many are new.
   */
  importChanges(changes: readonly CatalogChange[], first: number): Promise<number>;
  /** Notes that what was imported is all there was from one instant to another, as far as the record does not reach. */
  importSpan(from: Date, to: Date): Promise<void>;
  /** Changes that pass the filters, newest first, behind `after`; at most `limit`. */
  list(filters: ChangeFilters, after: ChangePosition | null, limit: number): Promise<readonly ListedChange[]>;
  /** The price history of each entry, in the order asked for: at most the newest 500 changes of each. */
  ofEntries(entryIds: readonly string[]): Promise<readonly EntryHistory[]>;
  /** The times that history covers, by their beginning. */
  spans(): Promise<readonly HistorySpan[]>;
}
