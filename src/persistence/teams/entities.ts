import { defineEntity, p } from '@mikro-orm/core';
import type { MemberRole } from '../../domain/teams/member.ts';
import type { TeamWindow } from '../../domain/teams/team-windows.ts';
import { limitColumns, objectColumn, stampColumns, textsColumn } from '../column-types/shared-columns.ts';
import { UsdTextType } from '../column-types/usd-text.ts';

/** A team changes over time: a managed entity. */
export const TeamEntity = defineEntity({
  name: 'TeamEntity',
  tableName: 'team',
  properties: {
    id: p.text().primary(),
    alias: p.text().nullable(),
    organizationId: p.text().nullable().index(),
    models: textsColumn(),
    modelAliases: p.json().columnType('json').$type<Readonly<Record<string, string>>>(),
    metadata: objectColumn(),
    blocked: p.boolean(),
    memberPermissions: textsColumn(),
    memberBudgetId: p.text().nullable(),
    routerSettings: objectColumn(),
    objectPermission: objectColumn().nullable(),
    budgetLimits: p.json().columnType('json').$type<readonly TeamWindow[]>().nullable(),
    /** Total spend of the team's keys at the start of its budget window, see `startedOwner`. Null for zero. */
    spentBefore: p.type(UsdTextType).nullable(),
    ...limitColumns(),
    ...stampColumns(),
  },
  indexes: [{ properties: ['createdAt', 'id'] }, { properties: ['budgetResetAt'] }],
});

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
    /** Total spend of the member at the most recent reset of its budget. Null without a reset. */
    spentBefore: p.type(UsdTextType).nullable(),
    ...stampColumns(),
  },
  uniques: [{ properties: ['teamId', 'userId'] }],
});
