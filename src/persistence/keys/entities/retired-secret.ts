import { defineEntity, p } from '@mikro-orm/core';

/** Hash of a secret that a rotation replaced. It is never deleted, so that no key is issued with it again. */
export const RetiredSecretEntity = defineEntity({
  name: 'RetiredSecretEntity',
  tableName: 'retired_secret',
  properties: {
    hash: p.text().primary(),
    /** Identity of its key. */
    keyHash: p.text(),
    retiredAt: p.datetime(),
  },
});
