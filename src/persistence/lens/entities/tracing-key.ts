import { defineEntity, p } from '@mikro-orm/core';
import { stampColumns } from '../../column-types/shared-columns.ts';

/** A key that may only send traces. Only the hash of its token is stored. */
export const TracingKeyEntity = defineEntity({
  name: 'TracingKeyEntity',
  tableName: 'lens_tracing_key',
  properties: {
    id: p.text().primary(),
    name: p.text(),
    tokenHash: p.text().unique(),
    teamId: p.text(),
    userId: p.text(),
    organizationId: p.text(),
    expiresAt: p.datetime().nullable(),
    ...stampColumns(),
  },
  indexes: [{ properties: ['createdAt', 'id'] }],
});
