import { defineEntity, p } from '@mikro-orm/core';

/** Sign-ins that another request ends, with encrypted contents. Rows only. */
export const PendingSignInSchema = defineEntity({
  name: 'PendingSignInEntity',
  tableName: 'pending_sign_in',
  properties: {
    id: p.text().primary(),
    kind: p.text(),
    content: p.text(),
    revision: p.integer(),
    untilMs: p.bigint('number').index(),
  },
});

export class PendingSignInEntity extends PendingSignInSchema.class {}
PendingSignInSchema.setClass(PendingSignInEntity);
