import { defineEntity, p } from '@mikro-orm/core';
import type { GuardrailMode } from '../../../domain/guardrails/definition.ts';
import { objectColumn, stampColumns } from '../../column-types/shared-columns.ts';

/** A guardrail changes over time: a managed entity. */
export const GuardrailEntity = defineEntity({
  name: 'GuardrailEntity',
  tableName: 'guardrail',
  properties: {
    id: p.text().primary(),
    name: p.text().unique(),
    kind: p.text(),
    modes: p.json().columnType('json').$type<readonly GuardrailMode[]>(),
    defaultOn: p.boolean(),
    sealed: p.text(),
    info: objectColumn().nullable(),
    teamId: p.text().nullable(),
    ...stampColumns(),
  },
  indexes: [{ properties: ['createdAt', 'id'] }],
});
