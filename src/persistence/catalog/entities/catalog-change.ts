import { defineEntity, p } from '@mikro-orm/core';
import type { ChangeOp, FieldKind } from '../../../domain/catalog/changes.ts';

/** One dated change of the catalog. Append-only: rows, not managed entities. */
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
    /** JSON. */
    oldValue: p.text(),
    newValue: p.text(),
    snapshotId: p.text().nullable(),
  },
  indexes: [
    // Read backwards for "newest first": of everything, of one entry, of one field.
    { properties: ['atMs', 'number', 'key'] },
    { properties: ['entryId', 'atMs', 'number', 'key'] },
    { properties: ['field', 'atMs', 'number', 'key'] },
  ],
});
