import type { PromptStore } from '../../domain/prompts/prompt.ts';
import type { Database } from '../database/database.ts';
import { createRowStore } from '../database/row-store.ts';
import { PromptEntity } from './entities.ts';

export const createPromptStore = (database: Database): PromptStore =>
  createRowStore(database, {
    entity: PromptEntity,
    noun: 'prompt',
    audited: 'prompt',
    conflictText: ({ id }) => `The version ${id} exists already. Try again.`,
  });
