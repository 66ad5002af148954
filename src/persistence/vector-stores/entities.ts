import { defineEntity, p } from '@mikro-orm/core';
import { objectColumn, stampColumns } from '../column-types/shared-columns.ts';

/** A registered store changes over time: a managed entity. */
export const VectorStoreEntity = defineEntity({
  name: 'VectorStoreEntity',
  tableName: 'vector_store',
  properties: {
    id: p.text().primary(),
    provider: p.text(),
    name: p.text().nullable(),
    description: p.text().nullable(),
    metadata: objectColumn().nullable(),
    credentialName: p.text().nullable(),
    /** The parameters of the store as JSON, encrypted, in Base64. */
    sealed: p.text(),
    teamId: p.text().nullable(),
    userId: p.text().nullable(),
    ...stampColumns(),
  },
  indexes: [{ properties: ['createdAt', 'id'] }],
});
