import type { CodingAgentStore } from '../../domain/coding-agents/coding-agent.ts';
import type { Database } from '../database/database.ts';
import { createRowStore, matching, visibleTo } from '../database/row-store.ts';
import { CodingAgentEntity } from './entities.ts';

export const createCodingAgentStore = (database: Database): CodingAgentStore =>
  createRowStore(database, {
    entity: CodingAgentEntity,
    noun: 'coding agent',
    where: ({ visible, keyHash, teamId }) => [...visibleTo(visible), ...matching({ keyHash, teamId })],
    conflictText: ({ id }) => `The coding agent ${id} has an owner already.`,
  });
