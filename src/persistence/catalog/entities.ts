import { defineEntity, p } from '@mikro-orm/core';
import type { ChangeOp, FieldKind } from '../../domain/catalog/changes.ts';
import { UnixMsType } from '../column-types/unix-ms.ts';

/** One dated change of the catalog. Append-only; not a managed entity. */
export const CatalogChangeEntity = defineEntity({
  name: 'CatalogChangeEntity',
  tableName: 'catalog_change',
  properties: {
    /** Hash of the change, so that a repeated import adds nothing. */
    key: p.text().primary(),
    /** Unix ms. */
    atMs: p.bigint('number'),
    notBeforeMs: p.bigint('number').nullable(),
    /** Orders the changes of one instant. */
    number: p.integer(),
    entryId: p.text(),
    provider: p.text().nullable(),
    op: p.text().$type<ChangeOp>(),
    field: p.text().nullable(),
    /** Kind of the field; null for an added or removed entry, and for an imported field of unknown kind. */
    kind: p.text().$type<FieldKind>().nullable(),
    // Both values are JSON.
    oldValue: p.text(),
    newValue: p.text(),
    snapshotId: p.text().nullable(),
  },
  indexes: [
    // Read backwards for "newest first": all changes, changes of an entry, changes of a field.
    { properties: ['atMs', 'number', 'key'] },
    { properties: ['entryId', 'atMs', 'number', 'key'] },
    { properties: ['field', 'atMs', 'number', 'key'] },
  ],
});

/** The fields of an entry at the most recent snapshot, to compare with the next snapshot. Not a managed entity. */
export const CatalogRecordedEntity = defineEntity({
  name: 'CatalogRecordedEntity',
  tableName: 'catalog_recorded',
  properties: {
    entryId: p.text().primary(),
    /** JSON of its watched fields. */
    fields: p.text(),
  },
});

/** A quarantined price that an administrator released: a managed entity. */
export const CatalogReleaseEntity = defineEntity({
  name: 'CatalogReleaseEntity',
  tableName: 'catalog_release',
  properties: {
    entryId: p.text().primary(),
    field: p.text().primary(),
    /** JSON, compared as text when a release is removed. */
    value: p.text(),
    releasedAt: p.type(UnixMsType),
    releasedBy: p.text(),
  },
});

/** A period that the history covers. Not a managed entity. Times are Unix ms. */
export const CatalogSpanEntity = defineEntity({
  name: 'CatalogSpanEntity',
  tableName: 'catalog_span',
  properties: {
    /** `recorded` for the one recorded period; `imported` and its start for an imported period. */
    name: p.text().primary(),
    fromMs: p.bigint('number'),
    /** Null while it continues. */
    toMs: p.bigint('number').nullable(),
    // The head: the most recent state of the recorded period. All four are null for imported periods.
    snapshotId: p.text().nullable(),
    takenMs: p.bigint('number').nullable(),
    seenMs: p.bigint('number').nullable(),
    confirmedMs: p.bigint('number').nullable(),
  },
});
