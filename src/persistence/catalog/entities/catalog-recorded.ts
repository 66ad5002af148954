import { defineEntity, p } from '@mikro-orm/core';

/** The last recorded fields of an entry, which the next snapshot is compared with. Rows only. */
export const CatalogRecordedEntity = defineEntity({
  name: 'CatalogRecordedEntity',
  tableName: 'catalog_recorded',
  properties: {
    entryId: p.text().primary(),
    /** JSON of its watched fields. */
    fields: p.text(),
  },
});
