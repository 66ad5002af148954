import { sql } from 'kysely';
import type { DecisionOutcome, OutcomeStore } from '../../domain/decisions/outcome.ts';
import type { DecisionStore } from '../../domain/decisions/stored-decision.ts';
import type { Database } from '../database/database.ts';
import { createRowStore, createdWithin, matching, visibleTo } from '../database/row-store.ts';
import { DecisionEntity, DecisionOutcomeEntity } from './entities.ts';

export const createDecisionStore = (database: Database): DecisionStore =>
  createRowStore(database, {
    entity: DecisionEntity,
    noun: 'decision',
    where: ({ visible, callId, before, since, model }) => [
      ...visibleTo(visible),
      ...matching({ callId, model }),
      ...createdWithin(since, before),
    ],
    conflictText: ({ id }) => `The decision ${id} is stored already.`,
  });

/** Maximum number of rows that one statement reads. */
const READ_AT_ONCE = 1_000;

export function createOutcomeStore(database: Database): OutcomeStore {
  const rows = createRowStore<DecisionOutcome, null, 'created_at' | 'updated_at'>(database, {
    entity: DecisionOutcomeEntity,
    noun: 'outcome of a decision',
    sortColumns: { updated_at: 'updated_at' },
    conflictText: ({ id }) => `The outcome ${id} is recorded already.`,
  });

  const latestIds = ({ perScope, limit }: Parameters<OutcomeStore['latest']>[0]): Promise<readonly string[]> =>
    database.readRows(async (db) => {
      const { rows: found } = await sql<{ readonly id: string }>`
        select id from (
          select id, row_number() over (partition by scope order by updated_at desc, id desc) as place
          from decision_outcome
        ) as ranked
        where place <= ${perScope} order by place, id limit ${limit}
      `.execute(db);
      return found.map(({ id }) => id);
    });

  return {
    ...rows,
    async latest(limits) {
      const ids = await latestIds(limits);
      const byId = new Map<string, DecisionOutcome>();
      for (let from = 0; from < ids.length; from += READ_AT_ONCE)
        for (const row of await rows.findMany(ids.slice(from, from + READ_AT_ONCE))) byId.set(row.id, row);
      return ids.flatMap((id) => byId.get(id) ?? []);
    },
  };
}
