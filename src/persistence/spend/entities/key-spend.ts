import { defineEntity, p } from '@mikro-orm/core';

/**
 * What a key has spent so far: grows in the same commit as its spend rows, so that the total costs one row
 * to read. Picodollars in 64 bits leave room for nine million dollars a key.
 */
export const KeySpendSchema = defineEntity({
  name: 'KeySpendEntity',
  tableName: 'key_spend',
  properties: {
    keyHash: p.text().primary(),
    total: p.bigint('string'),
  },
});

export class KeySpendEntity extends KeySpendSchema.class {}
KeySpendSchema.setClass(KeySpendEntity);
