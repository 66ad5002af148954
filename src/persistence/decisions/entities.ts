import { defineEntity, p } from '@mikro-orm/core';
import type { DecisionOutcome } from '../../domain/decisions/outcome.ts';
import type { DecisionContent } from '../../domain/decisions/stored-decision.ts';
import { stampColumns } from '../column-types/shared-columns.ts';

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

/** The right answer to a question. It can be reported again: a managed entity. */
export const DecisionOutcomeEntity = defineEntity({
  name: 'DecisionOutcomeEntity',
  tableName: 'decision_outcome',
  properties: {
    id: p.text().primary(),
    decisionId: p.text(),
    model: p.text(),
    kind: p.text().$type<DecisionOutcome['kind']>(),
    source: p.text().$type<DecisionOutcome['source']>(),
    probabilities: p.json().columnType('json').$type<readonly number[]>(),
    outcome: p.integer(),
    scope: p.text().default(''),
    keyHash: p.text(),
    teamId: p.text().nullable(),
    ...stampColumns(),
  },
  indexes: [
    { properties: ['createdAt', 'id'] },
    { properties: ['updatedAt', 'id'] },
    { properties: ['scope', 'updatedAt', 'id'] },
  ],
});
