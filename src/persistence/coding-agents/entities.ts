import { defineEntity, p } from '@mikro-orm/core';
import type { AgentState } from '../../domain/coding-agents/coding-agent.ts';
import { stampColumns } from '../column-types/shared-columns.ts';

/** The state of an agent changes over time: a managed entity. */
export const CodingAgentEntity = defineEntity({
  name: 'CodingAgentEntity',
  tableName: 'coding_agent',
  properties: {
    id: p.text().primary(),
    keyHash: p.text(),
    teamId: p.text().nullable(),
    state: p.json().columnType('json').$type<AgentState>(),
    ...stampColumns(),
  },
  indexes: [{ properties: ['createdAt', 'id'] }],
});
