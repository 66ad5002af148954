import { defineEntity, p } from '@mikro-orm/core';

/** A time that history covers. Rows only; times are Unix ms. */
export const CatalogSpanSchema = defineEntity({
  name: 'CatalogSpanEntity',
  tableName: 'catalog_span',
  properties: {
    /** `recorded`, of which there is one, or `imported` with its beginning. */
    name: p.text().primary(),
    fromMs: p.bigint('number'),
    /** Null while it goes on. */
    toMs: p.bigint('number').nullable(),
    // The head of the record; null together for what was imported.
    snapshotId: p.text().nullable(),
    takenMs: p.bigint('number').nullable(),
    seenMs: p.bigint('number').nullable(),
    confirmedMs: p.bigint('number').nullable(),
  },
});

export class CatalogSpanEntity extends CatalogSpanSchema.class {}
CatalogSpanSchema.setClass(CatalogSpanEntity);
