import type { CatalogEntry, CatalogSnapshot } from './catalog.ts';

/** What can happen to an entry of the catalog. */
export type ChangeOp = 'added' | 'removed' | 'changed';

/** What a watched field is about. */
export type FieldKind = 'price' | 'limit' | 'flag' | 'date' | 'provider' | 'mode';

/** The watched fields of an entry that say something, by their name in the price map; the provider is `provider`. */
export type WatchedFields = Readonly<Record<string, unknown>>;

/** One dated fact about the catalog: an entry came, went, or one of its fields took another value. */
export interface CatalogChange {
  /** When it was seen. */
  readonly at: Date;
  /** When it was last seen not to have happened, if that was long before; null when it is dated well. */
  readonly notBefore: Date | null;
  readonly entryId: string;
  /** Who offers the entry, where that is known. */
  readonly provider: string | null;
  readonly op: ChangeOp;
  /** Which field changed; null when the entry came or went. */
  readonly field: string | null;
  /** Of a field: its value before, null for none. Of an entry that went: its fields, null when nobody noted them. */
  readonly old: unknown;
  /** Of a field: its value since, null for none. Of an entry that came: its fields, null when nobody noted them. */
  readonly new: unknown;
  /** The state of the catalog it came with; null for what was imported. */
  readonly snapshotId: string | null;
}

/** Changes that are told at once, at most. */
export const NEWS_SIZE = 100;

/** Limits whose names do not begin with `max_`. */
const LIMITS: ReadonlySet<string> = new Set(['rpm', 'tpm', 'prompt_cache_min_tokens', 'output_vector_size']);

/**
 * What a key of the price map is about; null for what history does not keep: lists, links, notes and switches of
 * one vendor's interface. Names decide, because keys come and go with every version of the map.
 */
export function fieldKindOf(name: string): FieldKind | null {
  if (name === 'provider' || name === 'mode') return name;
  if (name.includes('cost') || name.includes('pricing') || name.includes('uplift_multiplier')) return 'price';
  if (name.startsWith('max_') || LIMITS.has(name)) return 'limit';
  if (name.startsWith('supports_') || name.includes('_supports_')) return 'flag';
  return name.endsWith('_date') ? 'date' : null;
}

/** Longest id or name of a field that is kept: longer ones no index of a database could hold. */
const MOST_NAME = 512;

/** Whether history can keep something under this id or name; what cannot is not watched, and hurts nothing else. */
export function isKeptName(name: string): boolean {
  return name !== '' && name.length <= MOST_NAME && name.isWellFormed() && !name.includes('\0');
}

/** Deeper values than any price has are none of ours: they would have to be walked again and again. */
const MOST_NESTING = 16;

function isDeep(value: unknown, depth = MOST_NESTING): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return depth === 0 || Object.values(value).some((inner) => isDeep(inner, depth - 1));
}

/** What history keeps of an entry. A null says as little as a key that is not there. */
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
    if (fieldKindOf(name) !== null && isKeptName(name) && !isDeep(value)) fields.push([name, value]);
  }
  return Object.fromEntries(fields);
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

/** Whether two JSON values say the same; the order of keys says nothing. */
export function sameMeaning(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (!isObject(left) || !isObject(right) || Array.isArray(left) !== Array.isArray(right)) return false;
  const keys = Object.keys(left);
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && sameMeaning(left[key], right[key]))
  );
}

/** A state of the catalog as far as history kept it. */
export interface EarlierState {
  ids(): Iterable<string>;
  fieldsOf(id: string): WatchedFields | null;
  /** Whether it holds this very entry: what is the same object needs no look inside. */
  holds(entry: CatalogEntry): boolean;
}

/** A snapshot as the state to compare with. */
export function stateOfSnapshot(snapshot: CatalogSnapshot): EarlierState {
  return {
    *ids() {
      for (const { id } of snapshot.entries) if (isKeptName(id)) yield id;
    },
    fieldsOf(id) {
      const entry = snapshot.find(id);
      return entry === null ? null : watchedFieldsOf(entry);
    },
    holds: (entry) => snapshot.find(entry.id) === entry,
  };
}

/** What was recorded of each entry, as the state to compare with. */
export function stateOfRecord(fields: ReadonlyMap<string, WatchedFields>): EarlierState {
  return { ids: () => fields.keys(), fieldsOf: (id) => fields.get(id) ?? null, holds: () => false };
}

/** An entry that is not what it was; null where it is not in the catalog. */
export interface EntryDifference {
  readonly entryId: string;
  readonly before: WatchedFields | null;
  readonly after: WatchedFields | null;
}

/** Entries looked at between two chances for others to run. */
const SLICE = 100;

/**
 * The entries that differ, in the order of the later state, then those that are gone. It comes in slices, each
 * the work of a millisecond, so that whoever runs it can let others run in between.
 */
export function* compareStates(
  earlier: EarlierState,
  later: Pick<CatalogSnapshot, 'entries' | 'find'>,
): Generator<readonly EntryDifference[]> {
  for (let start = 0; start < later.entries.length; start += SLICE)
    yield later.entries.slice(start, start + SLICE).flatMap((entry): EntryDifference | readonly EntryDifference[] => {
      if (earlier.holds(entry) || !isKeptName(entry.id)) return [];
      const before = earlier.fieldsOf(entry.id);
      const after = watchedFieldsOf(entry);
      return before !== null && sameMeaning(before, after) ? [] : { entryId: entry.id, before, after };
    });
  let gone: EntryDifference[] = [];
  let seen = 0;
  for (const entryId of earlier.ids()) {
    if (later.find(entryId) === null) gone.push({ entryId, before: earlier.fieldsOf(entryId), after: null });
    seen += 1;
    if (seen % SLICE > 0) continue;
    yield gone;
    gone = [];
  }
  yield gone;
}

const providerOf = (fields: WatchedFields | null): string | null =>
  typeof fields?.['provider'] === 'string' ? fields['provider'] : null;

/** A difference as changes: one for an entry that came or went, else one for each field. */
export function changesOf(
  { entryId, before, after }: EntryDifference,
  { at, notBefore, snapshotId }: Pick<CatalogChange, 'at' | 'notBefore' | 'snapshotId'>,
): readonly CatalogChange[] {
  const about = { at, notBefore, entryId, provider: providerOf(after ?? before), snapshotId };
  if (before === null) return [{ ...about, op: 'added', field: null, old: null, new: after }];
  if (after === null) return [{ ...about, op: 'removed', field: null, old: before, new: null }];
  return [...new Set([...Object.keys(after), ...Object.keys(before)])]
    .filter((field) => !sameMeaning(before[field], after[field]))
    .map((field) => ({ ...about, op: 'changed', field, old: before[field] ?? null, new: after[field] ?? null }));
}
