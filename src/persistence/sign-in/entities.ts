import { defineEntity, p } from '@mikro-orm/core';

/** State of a sign-in between requests: a login, a code, or a count of failures (`PendingSignIn`). A managed entity. */
export const PendingSignInEntity = defineEntity({
  name: 'PendingSignInEntity',
  tableName: 'pending_sign_in',
  properties: {
    id: p.text().primary(),
    kind: p.text(),
    content: p.text(),
    revision: p.integer(),
    /** Expiry, Unix ms. */
    untilMs: p.bigint('number').index(),
  },
});
