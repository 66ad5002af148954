import { defineEntity, p } from '@mikro-orm/core';

/**
 * Total spend of a key, updated in the commit of its spend rows, so that a total is one row to read. Picodollars in 64 bits
 * hold nine million dollars per key.
 */
export const KeySpendEntity = defineEntity({
  name: 'KeySpendEntity',
  tableName: 'key_spend',
  properties: {
    keyHash: p.text().primary(),
    total: p.bigint('string'),
  },
});
