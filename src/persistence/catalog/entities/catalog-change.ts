import { defineEntity, p } from '@mikro-orm/core';
import type { ChangeOp, FieldKind } from '../../../domain/catalog/changes.ts';

/** One dated fact about the catalog. Only ever appended: rows, not managed entities. */
export const CatalogChangeSchema = defineEntity({
  name: 'CatalogChangeEntity',
  tableName: 'catalog_change',
  properties: {
    /** Hash of what it says: the same fact twice is one. */
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
    /** What the field is about; null where an entry came or went, and for an imported field of no kind of ours. */
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

export class CatalogChangeEntity extends CatalogChangeSchema.class {}
CatalogChangeSchema.setClass(CatalogChangeEntity);
