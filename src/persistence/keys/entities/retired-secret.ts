import { defineEntity, p } from '@mikro-orm/core';

/** Hash of a secret that a rotation replaced. It is never deleted, so that no key is issued with it again. */
const RetiredSecretSchema = defineEntity({
  name: 'RetiredSecretEntity',
  tableName: 'retired_secret',
  properties: {
    hash: p.text().primary(),
    /** Identity of its key. */
    keyHash: p.text(),
    retiredAt: p.datetime(),
  },
});

export class RetiredSecretEntity extends RetiredSecretSchema.class {}
RetiredSecretSchema.setClass(RetiredSecretEntity);
