import type { JsonObject } from '../json-object.ts';
import type { CatalogEntry, CatalogSnapshot } from './catalog.ts';
import { isDeeperThan } from './nesting.ts';

/** Kinds of changes of a catalog entry. */
export type ChangeOp = 'added' | 'removed' | 'changed';

/** Subject of a watched field, which is a field whose changes the history records. */
export type FieldKind = 'price' | 'limit' | 'flag' | 'date' | 'provider' | 'mode';

/** The watched fields of an entry that have a value, by their names in the price map; the provider is `provider`. */
export type WatchedFields = JsonObject;

/** One dated change of the catalog: an entry was added or removed, or the value of a field changed. */
export interface CatalogChange {
  /** Time at which the change was observed. */
  readonly at: Date;
  /**
   * Last time at which the state before the change was observed, if that is long before `at`. Null when `at` is
   * precise.
   */
  readonly notBefore: Date | null;
  readonly entryId: string;
  /** Provider of the entry; null when unknown. */
  readonly provider: string | null;
  readonly op: ChangeOp;
  /** The changed field; null when the entry was added or removed. */
  readonly field: string | null;
  /** Old value of a changed field, null for none. For a removed entry: its fields, null when they were not recorded. */
  readonly old: unknown;
  /** New value of a changed field, null for none. For an added entry: its fields, null when they were not recorded. */
  readonly new: unknown;
  /** The snapshot with this change; null for an imported change. */
  readonly snapshotId: string | null;
}

/** Maximum number of changes of one event of the bus. More changes are published as several events. */
export const MAX_CHANGES_PER_EVENT = 100;

/** Limits whose names do not begin with `max_`. */
const LIMITS: ReadonlySet<string> = new Set(['rpm', 'tpm', 'prompt_cache_min_tokens', 'output_vector_size']);

/**
 * Subject of a key of the price map. Null for keys that history ignores: lists, links, notes, and options of a single
 * vendor's API. The name decides, because each version of the map adds and removes keys.
 */
export function fieldKindOf(name: string): FieldKind | null {
  if (name === 'provider' || name === 'mode') return name;
  if (name.includes('cost') || name.includes('pricing') || name.includes('uplift_multiplier')) return 'price';
  if (name.startsWith('max_') || LIMITS.has(name)) return 'limit';
  if (name.startsWith('supports_') || name.includes('_supports_')) return 'flag';
  return name.endsWith('_date') ? 'date' : null;
}

/** Maximum length of a stored id or field name: database indexes do not accept longer ones. */
const MAX_NAME_CHARACTERS = 512;

/**
 * Whether history can store this id or field name: databases refuse NUL characters and halves of surrogate pairs.
 * Entries and fields with other names are not watched.
 */
export function isStorableName(name: string): boolean {
  return name !== '' && name.length <= MAX_NAME_CHARACTERS && name.isWellFormed() && !name.includes('\0');
}

/** Maximum nesting of a watched value, more than any price has. Every comparison traverses the whole value. */
const MAX_NESTING = 16;

/** The fields of an entry that history records. A null is the same as an absent key. */
export function watchedFieldsOf({
  provider,
  mode,
  row,
}: Pick<CatalogEntry, 'provider' | 'mode' | 'row'>): WatchedFields {
  const fields: [string, unknown][] = [];
  if (provider !== null) fields.push(['provider', provider]);
  if (mode !== null) fields.push(['mode', mode]);
  for (const [name, value] of Object.entries(row)) {
    if (value === null || name === 'provider' || name === 'mode') continue;
    if (fieldKindOf(name) === null || !isStorableName(name) || isDeeperThan(MAX_NESTING, value)) continue;
    fields.push([name, value]);
  }
  return Object.fromEntries(fields);
}

const isObjectOrArray = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null;

/** Whether two JSON values are equal, in any order of keys. */
export function isEquivalent(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (!isObjectOrArray(left) || !isObjectOrArray(right)) return false;
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  const keys = Object.keys(left);
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && isEquivalent(left[key], right[key]))
  );
}

/** An earlier state of the catalog, as far as history recorded it. */
export interface EarlierState {
  ids(): Iterable<string>;
  fieldsOf(id: string): WatchedFields | null;
  /** Whether the state contains this very object, so that no comparison is needed. */
  holds(entry: CatalogEntry): boolean;
}

/** The state of a snapshot. */
export function stateOfSnapshot(snapshot: CatalogSnapshot): EarlierState {
  return {
    *ids() {
      for (const { id } of snapshot.entries) if (isStorableName(id)) yield id;
    },
    fieldsOf(id) {
      const entry = snapshot.find(id);
      return entry === null ? null : watchedFieldsOf(entry);
    },
    holds: (entry) => snapshot.find(entry.id) === entry,
  };
}

/** The state that history recorded: the watched fields of each entry. */
export function stateOfRecord(fields: ReadonlyMap<string, WatchedFields>): EarlierState {
  return { ids: () => fields.keys(), fieldsOf: (id) => fields.get(id) ?? null, holds: () => false };
}

/** An entry that differs; null on the side where it is not in the catalog. */
export interface EntryDifference {
  readonly entryId: string;
  readonly before: WatchedFields | null;
  readonly after: WatchedFields | null;
}

/** Number of entries compared in one slice. */
const SLICE_ENTRIES = 100;

/**
 * The entries that differ, in the order of the later state, followed by the removed entries. Yields them after each
 * slice of about a millisecond, so that the caller can yield to the event loop.
 */
export function* compareStates(
  earlier: EarlierState,
  later: Pick<CatalogSnapshot, 'entries' | 'find'>,
): Generator<readonly EntryDifference[]> {
  for (let start = 0; start < later.entries.length; start += SLICE_ENTRIES)
    yield later.entries
      .slice(start, start + SLICE_ENTRIES)
      .flatMap((entry): EntryDifference | readonly EntryDifference[] => {
        if (earlier.holds(entry) || !isStorableName(entry.id)) return [];
        const before = earlier.fieldsOf(entry.id);
        const after = watchedFieldsOf(entry);
        return before !== null && isEquivalent(before, after) ? [] : { entryId: entry.id, before, after };
      });
  let removed: EntryDifference[] = [];
  let seen = 0;
  for (const entryId of earlier.ids()) {
    if (later.find(entryId) === null) removed.push({ entryId, before: earlier.fieldsOf(entryId), after: null });
    seen += 1;
    if (seen % SLICE_ENTRIES > 0) continue;
    yield removed;
    removed = [];
  }
  yield removed;
}

const providerOf = (fields: WatchedFields | null): string | null =>
  typeof fields?.['provider'] === 'string' ? fields['provider'] : null;

/** A difference as changes: one for an added or removed entry, else one for each field that differs. */
export function changesOf(
  { entryId, before, after }: EntryDifference,
  { at, notBefore, snapshotId }: Pick<CatalogChange, 'at' | 'notBefore' | 'snapshotId'>,
): readonly CatalogChange[] {
  const about = { at, notBefore, entryId, provider: providerOf(after ?? before), snapshotId };
  if (before === null) return [{ ...about, op: 'added', field: null, old: null, new: after }];
  if (after === null) return [{ ...about, op: 'removed', field: null, old: before, new: null }];
  return [...new Set([...Object.keys(after), ...Object.keys(before)])]
    .filter((field) => !isEquivalent(before[field], after[field]))
    .map((field) => ({ ...about, op: 'changed', field, old: before[field] ?? null, new: after[field] ?? null }));
}
