import { defineEntity, p } from '@mikro-orm/core';

/** A quarantined price that an administrator released. Times are Unix ms. */
export const CatalogReleaseSchema = defineEntity({
  name: 'CatalogReleaseEntity',
  tableName: 'catalog_release',
  properties: {
    entryId: p.text().primary(),
    field: p.text().primary(),
    /** JSON, compared as text when a release is removed. */
    value: p.text(),
    releasedAt: p.bigint('number'),
    releasedBy: p.text(),
  },
});

export class CatalogReleaseEntity extends CatalogReleaseSchema.class {}
CatalogReleaseSchema.setClass(CatalogReleaseEntity);
