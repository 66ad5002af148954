import { defineEntity, p } from '@mikro-orm/core';

/** The key of signed tokens, for sums over the keys of an owner. It never changes and is not removed. */
export const TokenKeyEntity = defineEntity({
  name: 'TokenKeyEntity',
  tableName: 'token_key',
  properties: {
    hash: p.text().primary(),
    teamId: p.text().nullable(),
    userId: p.text().nullable().index(),
    organizationId: p.text().nullable().index(),
  },
  indexes: [{ properties: ['teamId', 'userId'] }],
});
