import { defineEntity, p } from '@mikro-orm/core';
import type { MemberRole } from '../../../domain/teams/member.ts';
import { stampColumns } from '../../column-types/shared-columns.ts';
import { UsdTextType } from '../../column-types/usd-text.ts';

/** A user in a team: a managed entity. */
export const TeamMemberEntity = defineEntity({
  name: 'TeamMemberEntity',
  tableName: 'team_member',
  properties: {
    id: p.text().primary(),
    teamId: p.text(),
    userId: p.text().index(),
    role: p.text().$type<MemberRole>(),
    budgetId: p.text().nullable(),
    spentBefore: p.type(UsdTextType).nullable(),
    ...stampColumns(),
  },
  uniques: [{ properties: ['teamId', 'userId'] }],
});
