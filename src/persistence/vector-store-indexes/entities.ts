import { defineEntity, p } from '@mikro-orm/core';
import { objectColumn, stampColumns } from '../column-types/shared-columns.ts';

/** An index of a vector store is created and removed: a managed entity. */
export const VectorStoreIndexEntity = defineEntity({
  name: 'VectorStoreIndexEntity',
  tableName: 'vector_store_index',
  properties: {
    id: p.text().primary(),
    name: p.text().unique(),
    storeId: p.text(),
    accountName: p.text(),
    info: objectColumn().nullable(),
    ...stampColumns(),
  },
  indexes: [{ properties: ['createdAt', 'id'] }],
});
