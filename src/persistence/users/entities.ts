import { defineEntity, p } from '@mikro-orm/core';
import type { Role } from '../../domain/role.ts';
import { limitColumns, objectColumn, stampColumns, textsColumn } from '../column-types/shared-columns.ts';
import { UsdTextType } from '../column-types/usd-text.ts';

/** A user changes over time: a managed entity. */
export const UserEntity = defineEntity({
  name: 'UserEntity',
  tableName: 'user_account',
  properties: {
    id: p.text().primary(),
    alias: p.text().nullable(),
    email: p.text().nullable(),
    emailKey: p.text().nullable().unique(),
    role: p.text().$type<Role>().nullable(),
    models: textsColumn(),
    metadata: objectColumn(),
    modelMaxBudget: objectColumn(),
    allowedCacheControls: textsColumn(),
    ssoUserId: p.text().nullable(),
    objectPermission: objectColumn().nullable(),
    /** Total spend of the user's keys at the start of its budget window, see `startedOwner`. Null for zero. */
    spentBefore: p.type(UsdTextType).nullable(),
    ...limitColumns(),
    ...stampColumns(),
  },
  indexes: [{ properties: ['createdAt', 'id'] }, { properties: ['budgetResetAt'] }],
});

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
