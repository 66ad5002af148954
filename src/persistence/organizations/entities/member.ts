import { defineEntity, p } from '@mikro-orm/core';
import type { OrganizationRole } from '../../../domain/organizations/organization.ts';
import { stampColumns } from '../../column-types/shared-columns.ts';

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
