import type { AgentStore } from '../../domain/a2a-agents/agent.ts';
import type { Database } from '../database/database.ts';
import { createRowStore } from '../database/row-store.ts';
import { A2aAgentEntity } from './entities.ts';

export const createA2aAgentStore = (database: Database): AgentStore =>
  createRowStore(database, {
    entity: A2aAgentEntity,
    noun: 'agent',
    audited: 'a2a_agent',
    conflictText: ({ name }) => `Agent with name ${name} already exists`,
  });
