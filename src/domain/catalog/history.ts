import { type CatalogChange, type ChangeOp, type FieldKind, fieldKindOf, type WatchedFields } from './changes.ts';

/** Maximum number of changes of one page. */
export const CHANGE_PAGE_SIZE = 500;

/**
 * Sort position of a change: by instant, then number, then key. `number` orders the changes of one instant; `key` is
 * the hash of the change.
 */
export interface ChangePosition {
  readonly atMs: number;
  readonly number: number;
  readonly key: string;
}

/** A change with its sort position. */
export interface ListedChange {
  readonly change: CatalogChange;
  readonly position: ChangePosition;
}

/** Filter of changes. All conditions that are not null must match. */
export interface ChangeFilters {
  readonly entryId: string | null;
  /** Letter case ignored. */
  readonly provider: string | null;
  readonly field: string | null;
  /** Kind of the changed field. Added and removed entries have none. */
  readonly kind: FieldKind | null;
  readonly op: ChangeOp | null;
  /** Inclusive. */
  readonly from: Date | null;
  /** Exclusive. */
  readonly to: Date | null;
}

/** Whether a change matches every filter except those of time. */
export function changePassesFilters(
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

/** A period in which every change of the catalog was recorded. */
export interface HistorySpan {
  readonly source: 'recorded' | 'imported';
  readonly from: Date;
  /** Inclusive; null while it continues. */
  readonly to: Date | null;
}

/** The price history of one entry. */
export interface EntryHistory {
  readonly entryId: string;
  /** Changes of its prices, and its additions and removals, oldest first. */
  readonly changes: readonly CatalogChange[];
  /** False when older changes were not read. */
  readonly complete: boolean;
  /** The last recorded fields; null when the entry was not in the catalog. */
  readonly fields: WatchedFields | null;
  /** The periods that history covers; the same for every entry. */
  readonly spans: readonly HistorySpan[];
}

/** The last recorded state of the catalog. */
export interface RecordHead {
  readonly snapshotId: string;
  /** `takenAt` of the snapshot. */
  readonly takenAt: Date;
  /** Time of the recording: no recorded change is newer. */
  readonly seenAt: Date;
  /** Last time at which this state was confirmed to be the published one. */
  readonly confirmedAt: Date;
}

/** The step from the last recorded state to the next. */
export interface RecordStep {
  /**
   * Snapshot id of the head that this step starts from. Null for the first step, which records the entries but no
   * changes.
   */
  readonly from: string | null;
  readonly head: RecordHead;
  readonly changes: readonly CatalogChange[];
  /** Every entry that differs, with its new fields; null when it was removed. */
  readonly entries: readonly RecordedEntry<WatchedFields | null>[];
}

/** The last recorded fields of one entry. */
export interface RecordedEntry<Fields = WatchedFields> {
  readonly entryId: string;
  readonly fields: Fields;
}

/**
 * Store of the catalog's history. It begins with the first recorded state; older history may be imported. Nothing is
 * deleted: the published map adds some megabytes a year.
 */
export interface CatalogHistory {
  /** The last recorded state; null before the first. */
  head(): Promise<RecordHead | null>;
  /** At most `limit` entries of the last recorded state, sorted by id, beginning after the id `after`. */
  recorded(after: string | null, limit: number): Promise<readonly RecordedEntry[]>;
  /**
   * Records a step atomically if the current head is the one that the step starts from. Resolves to the resulting head.
   * When this is not the head of the step, another process recorded first, and nothing was written. A repeated step is
   * recorded once. Throws Conflict when nothing is recorded that the step could start from.
   */
  record(step: RecordStep): Promise<RecordHead>;
  /** Records that this state is still the published one at an instant, unless another state was recorded since. */
  confirm(snapshotId: string, at: Date): Promise<void>;
  /**
   * Imports changes in their order, numbered from `first`. Skips changes that are stored already. Also skips changes
   * since the first recorded state, because this installation's own record takes precedence. Resolves to the number of
   * imported changes.
   */
  importChanges(changes: readonly CatalogChange[], first: number): Promise<number>;
  /** Records that the imported changes are complete for a period, as far as it is before the first recorded state. */
  importSpan(from: Date, to: Date): Promise<void>;
  /** At most `limit` changes that match the filters, newest first, beginning after the position `after`. */
  list(filters: ChangeFilters, after: ChangePosition | null, limit: number): Promise<readonly ListedChange[]>;
  /** The price history of each entry, in the order of the ids: at most the newest 500 changes of each. */
  ofEntries(entryIds: readonly string[]): Promise<readonly EntryHistory[]>;
  /** The periods that history covers, by their start. */
  spans(): Promise<readonly HistorySpan[]>;
}
