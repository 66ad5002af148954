import { defineEntity, p } from '@mikro-orm/core';
import { UnixMsType } from '../../column-types/unix-ms.ts';

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
