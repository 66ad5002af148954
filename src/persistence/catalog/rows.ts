import { createHash } from 'node:crypto';
import type { Selectable } from 'kysely';
import { type CatalogChange, fieldKindOf, type WatchedFields } from '../../domain/catalog/changes.ts';
import type { HistorySpan, ListedChange, RecordedEntry, RecordHead } from '../../domain/catalog/history.ts';
import type { Tables } from '../database/tables.ts';
import { storable, storableOrNull } from '../../domain/storable.ts';

export type ChangeRow = Selectable<Tables['catalog_change']>;
type RecordedRow = Selectable<Tables['catalog_recorded']>;
/** A period that the history covers. */
export type SpanRow = Selectable<Tables['catalog_span']>;

/** Name of the recorded period. All other periods are imported. */
export const RECORDED = 'recorded';

export function changeRowOf(change: CatalogChange, number: number): ChangeRow {
  const { at, entryId, op, field, old: oldValue, new: newValue } = change;
  const identity = JSON.stringify([at.getTime(), entryId, op, field, oldValue, newValue]);
  return {
    key: createHash('sha256').update(identity).digest('hex'),
    at_ms: at.getTime(),
    not_before_ms: change.notBefore?.getTime() ?? null,
    number,
    entry_id: storable(entryId),
    provider: storableOrNull(change.provider),
    op,
    field: storableOrNull(field),
    kind: field === null ? null : fieldKindOf(field),
    old_value: JSON.stringify(oldValue),
    new_value: JSON.stringify(newValue),
    snapshot_id: change.snapshotId,
  };
}

export function changeOf(row: ChangeRow): CatalogChange {
  return {
    at: new Date(row.at_ms),
    notBefore: row.not_before_ms === null ? null : new Date(row.not_before_ms),
    entryId: row.entry_id,
    provider: row.provider,
    op: row.op,
    field: row.field,
    old: JSON.parse(row.old_value) as unknown,
    new: JSON.parse(row.new_value) as unknown,
    snapshotId: row.snapshot_id,
  };
}

export function listedOf(row: ChangeRow): ListedChange {
  return { change: changeOf(row), position: { atMs: row.at_ms, number: row.number, key: row.key } };
}

export function recordedRowOf({ entryId, fields }: RecordedEntry): RecordedRow {
  return { entry_id: storable(entryId), fields: JSON.stringify(fields) };
}

export function recordedOf({ entry_id, fields }: RecordedRow): RecordedEntry {
  return { entryId: entry_id, fields: JSON.parse(fields) as WatchedFields };
}

export function spanOf({ name, from_ms, to_ms }: SpanRow): HistorySpan {
  return {
    source: name === RECORDED ? 'recorded' : 'imported',
    from: new Date(from_ms),
    to: to_ms === null ? null : new Date(to_ms),
  };
}

/** The most recently recorded state of the catalog, from the row of the recorded period. */
export function headOf({ snapshot_id, taken_ms, seen_ms, confirmed_ms }: SpanRow): RecordHead {
  return {
    snapshotId: snapshot_id ?? '',
    takenAt: new Date(taken_ms ?? 0),
    seenAt: new Date(seen_ms ?? 0),
    confirmedAt: new Date(confirmed_ms ?? 0),
  };
}

/**
 * The row of the recorded period with this head. Only a new row gets this `from_ms`: an existing row keeps its start.
 */
export function recordRowOf({ snapshotId, takenAt, seenAt, confirmedAt }: RecordHead): SpanRow {
  return {
    name: RECORDED,
    from_ms: seenAt.getTime(),
    to_ms: null,
    snapshot_id: snapshotId,
    taken_ms: takenAt.getTime(),
    seen_ms: seenAt.getTime(),
    confirmed_ms: confirmedAt.getTime(),
  };
}
