import { defineEntity, p } from '@mikro-orm/core';
import { objectColumn, stampColumns } from '../column-types/shared-columns.ts';

/** A named credential of a provider: a managed entity. */
export const CredentialEntity = defineEntity({
  name: 'CredentialEntity',
  tableName: 'credential',
  properties: {
    id: p.text().primary(),
    displayName: p.text().nullable(),
    info: objectColumn(),
    /** The values of the credential, encrypted, in Base64. */
    sealed: p.text(),
    ...stampColumns(),
  },
  indexes: [{ properties: ['createdAt', 'id'] }],
});
