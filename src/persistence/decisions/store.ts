import type { OutcomeStore } from '../../domain/decisions/outcome.ts';
import type { DecisionStore } from '../../domain/decisions/stored-decision.ts';
import type { Database } from '../database/database.ts';
import { createRowStore, equal, visibleTo } from '../database/row-store.ts';
import { DecisionEntity } from './entities/decision.ts';
import { DecisionOutcomeEntity } from './entities/decision-outcome.ts';

export const createDecisionStore = (database: Database): DecisionStore =>
  createRowStore(database, {
    entity: DecisionEntity,
    noun: 'decision',
    where: ({ visible, callId, before }) => [
      ...visibleTo(visible),
      ...equal('callId', callId),
      ...(before === null ? [] : [{ createdAt: { $lt: before } }]),
    ],
    ranks: { created_at: 'created_at' },
    taken: ({ id }) => `The decision ${id} is stored already.`,
  });

export const createOutcomeStore = (database: Database): OutcomeStore =>
  createRowStore(database, {
    entity: DecisionOutcomeEntity,
    noun: 'outcome of a decision',
    where: () => [],
    ranks: { created_at: 'created_at', updated_at: 'updated_at' },
    taken: ({ id }) => `The outcome ${id} is recorded already.`,
  });
