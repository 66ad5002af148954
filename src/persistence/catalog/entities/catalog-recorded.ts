import { defineEntity, p } from '@mikro-orm/core';

/** The last recorded fields of an entry, which the next snapshot is compared with. Rows only. */
export const CatalogRecordedSchema = defineEntity({
  name: 'CatalogRecordedEntity',
  tableName: 'catalog_recorded',
  properties: {
    entryId: p.text().primary(),
    /** JSON of its watched fields. */
    fields: p.text(),
  },
});

export class CatalogRecordedEntity extends CatalogRecordedSchema.class {}
CatalogRecordedSchema.setClass(CatalogRecordedEntity);
