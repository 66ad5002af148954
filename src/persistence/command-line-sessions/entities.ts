import { defineEntity, p } from '@mikro-orm/core';
import type { Role } from '../../domain/role.ts';
import { stampColumns } from '../column-types/shared-columns.ts';

/** A session is renewed and ended: a managed entity. */
export const CommandLineSessionEntity = defineEntity({
  name: 'CommandLineSessionEntity',
  tableName: 'command_line_session',
  properties: {
    id: p.text().primary(),
    userId: p.text(),
    role: p.text().$type<Role>(),
    teamId: p.text().nullable(),
    needsMembership: p.boolean(),
    clientName: p.text(),
    clientHash: p.text(),
    openedBy: p.text(),
    codeHash: p.text().unique(),
    familyHash: p.text().unique(),
    secretHash: p.text(),
    previousSecretHash: p.text().nullable(),
    keyHash: p.text().index(),
    previousKeyHash: p.text().nullable().index(),
    renewedAt: p.datetime(),
    expiresAt: p.datetime().index(),
    ...stampColumns(),
  },
  indexes: [{ properties: ['createdAt', 'id'] }, { properties: ['userId', 'createdAt'] }],
});
