import { defineEntity, p } from '@mikro-orm/core';

/** Hash of a secret that a rotation replaced. It is kept for ever, so that no key is issued with it again. */
const RetiredSecretSchema = defineEntity({
  name: 'RetiredSecretEntity',
  tableName: 'retired_secret',
  properties: {
    hash: p.text().primary(),
    /** Identity of the key that it opened. */
    keyHash: p.text(),
    retiredAt: p.datetime(),
  },
});

export class RetiredSecretEntity extends RetiredSecretSchema.class {}
RetiredSecretSchema.setClass(RetiredSecretEntity);
