import { defineEntity, p } from '@mikro-orm/core';
import type { OrganizationRole } from '../../domain/organizations/organization.ts';
import { objectColumn, stampColumns, textsColumn } from '../column-types/shared-columns.ts';

/** An organization changes over time: a managed entity. */
export const OrganizationEntity = defineEntity({
  name: 'OrganizationEntity',
  tableName: 'organization',
  properties: {
    id: p.text().primary(),
    alias: p.text(),
    budgetId: p.text(),
    models: textsColumn(),
    metadata: objectColumn(),
    objectPermission: objectColumn().nullable(),
    ...stampColumns(),
  },
  indexes: [{ properties: ['createdAt', 'id'] }],
});

/** A user in an organization: a managed entity. */
export const OrganizationMemberEntity = defineEntity({
  name: 'OrganizationMemberEntity',
  tableName: 'organization_member',
  properties: {
    id: p.text().primary(),
    organizationId: p.text(),
    userId: p.text().index(),
    role: p.text().$type<OrganizationRole>(),
    budgetId: p.text().nullable(),
    ...stampColumns(),
  },
  uniques: [{ properties: ['organizationId', 'userId'] }],
});
