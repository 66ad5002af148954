import { defineEntity, p } from '@mikro-orm/core';

/** An entry as recorded last: what the next state of the catalog is compared with. Rows only. */
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
