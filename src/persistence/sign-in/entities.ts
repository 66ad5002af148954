import { defineEntity, p } from '@mikro-orm/core';

/** A sign-in that a later request completes, with encrypted content: a managed entity. `untilMs`, its expiry, is Unix ms. */
export const PendingSignInEntity = defineEntity({
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
