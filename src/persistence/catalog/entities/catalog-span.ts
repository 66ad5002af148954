import { defineEntity, p } from '@mikro-orm/core';

/** A period that history covers. Rows only; times are Unix ms. */
export const CatalogSpanEntity = defineEntity({
  name: 'CatalogSpanEntity',
  tableName: 'catalog_span',
  properties: {
    /** `recorded`, which exists once, or `imported` with its start. */
    name: p.text().primary(),
    fromMs: p.bigint('number'),
    /** Null while it continues. */
    toMs: p.bigint('number').nullable(),
    // The head of the record; null together for imported spans.
    snapshotId: p.text().nullable(),
    takenMs: p.bigint('number').nullable(),
    seenMs: p.bigint('number').nullable(),
    confirmedMs: p.bigint('number').nullable(),
  },
});
