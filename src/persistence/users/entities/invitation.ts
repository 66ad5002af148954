import { defineEntity, p } from '@mikro-orm/core';
import { stampColumns } from '../../column-types/shared-columns.ts';

/** An invitation of a user: a managed entity. */
export const InvitationEntity = defineEntity({
  name: 'InvitationEntity',
  tableName: 'invitation',
  properties: {
    id: p.text().primary(),
    userId: p.text().index(),
    isAccepted: p.boolean(),
    acceptedAt: p.datetime().nullable(),
    expiresAt: p.datetime(),
    ...stampColumns(),
  },
});
