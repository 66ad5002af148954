import { defineEntity, p } from '@mikro-orm/core';

/** A stored response. Not a managed entity. Times are Unix ms. */
export const ResponseEntity = defineEntity({
  name: 'ResponseEntity',
  tableName: 'response',
  properties: {
    id: p.text().primary(),
    previousId: p.text().nullable(),
    teamId: p.text(),
    keyHash: p.text(),
    createdAt: p.bigint('number'),
    /** Size of `sealed` in bytes, so that a sum of sizes does not read the contents. */
    bytes: p.integer(),
    /** Input and output, encrypted. */
    sealed: p.blob(),
  },
  indexes: [{ properties: ['createdAt', 'id'] }],
});
