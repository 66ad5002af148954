import type { GuardrailStore } from '../../domain/guardrails/stored-guardrail.ts';
import type { Database } from '../database/database.ts';
import { createRowStore } from '../database/row-store.ts';
import { GuardrailEntity } from './entities.ts';

export const createGuardrailStore = (database: Database): GuardrailStore =>
  createRowStore(database, {
    entity: GuardrailEntity,
    noun: 'guardrail',
    audited: 'guardrail',
    conflictText: ({ id, name }) => `The name '${name}' or the id ${id} is that of another guardrail`,
  });
