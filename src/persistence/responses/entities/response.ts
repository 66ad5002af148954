import { defineEntity, p } from '@mikro-orm/core';

/** A response that is kept for its owner. Rows only; times are Unix ms. */
export const ResponseSchema = defineEntity({
  name: 'ResponseEntity',
  tableName: 'response',
  properties: {
    id: p.text().primary(),
    previousId: p.text().nullable(),
    teamId: p.text(),
    keyHash: p.text(),
    createdAt: p.bigint('number'),
    /** Bytes of what is sealed: sums are made without reading it. */
    bytes: p.integer(),
    /** What was asked and said, encrypted. */
    sealed: p.blob(),
  },
  indexes: [{ properties: ['createdAt', 'id'] }],
});

export class ResponseEntity extends ResponseSchema.class {}
ResponseSchema.setClass(ResponseEntity);
