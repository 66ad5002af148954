import { defineEntity, p } from '@mikro-orm/core';
import type { DecisionContent } from '../../../domain/decisions/stored-decision.ts';
import { stampColumns } from '../../column-types/shared-columns.ts';

/** A stored decision: a managed entity. */
export const DecisionEntity = defineEntity({
  name: 'DecisionEntity',
  tableName: 'decision',
  properties: {
    id: p.text().primary(),
    callId: p.text(),
    model: p.text(),
    keyHash: p.text(),
    teamId: p.text().nullable(),
    content: p.json().columnType('json').$type<DecisionContent>(),
    ...stampColumns(),
  },
  indexes: [{ properties: ['createdAt', 'id'] }, { properties: ['callId'] }],
});
