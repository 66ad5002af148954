import { defineEntity, p } from '@mikro-orm/core';
import type { AgentSettings } from '../../domain/a2a-agents/agent.ts';
import { stampColumns } from '../column-types/shared-columns.ts';

/** An agent changes over time: a managed entity. */
export const A2aAgentEntity = defineEntity({
  name: 'A2aAgentEntity',
  tableName: 'a2a_agent',
  properties: {
    id: p.text().primary(),
    name: p.text().unique(),
    settings: p.json().columnType('json').$type<AgentSettings>(),
    /** Secrets of the agent as JSON, encrypted, in Base64. */
    sealed: p.text(),
    ...stampColumns(),
  },
  indexes: [{ properties: ['createdAt', 'id'] }],
});
