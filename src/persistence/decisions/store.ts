import { sql } from 'kysely';
import type { DecisionOutcome, OutcomeStore } from '../../domain/decisions/outcome.ts';
import type { DecisionStore } from '../../domain/decisions/stored-decision.ts';
import type { Database } from '../database/database.ts';
import { createdWithin, createRowStore, equal, visibleTo } from '../database/row-store.ts';
import { DecisionEntity } from './entities/decision.ts';
import { DecisionOutcomeEntity } from './entities/decision-outcome.ts';

export const createDecisionStore = (database: Database): DecisionStore =>
  createRowStore(database, {
    entity: DecisionEntity,
    noun: 'decision',
    where: ({ visible, callId, before, since, model }) => [
      ...visibleTo(visible),
      ...equal('callId', callId),
      ...equal('model', model),
      ...createdWithin(since, before),
    ],
    ranks: { created_at: 'created_at' },
    conflictText: ({ id }) => `The decision ${id} is stored already.`,
  });

/** Rows of one statement. */
const READ_AT_ONCE = 1_000;

export function createOutcomeStore(database: Database): OutcomeStore {
  const { orm, inFlight } = database;
  const rows = createRowStore<DecisionOutcome, null, 'created_at' | 'updated_at'>(database, {
    entity: DecisionOutcomeEntity,
    noun: 'outcome of a decision',
    where: () => [],
    ranks: { created_at: 'created_at', updated_at: 'updated_at' },
    conflictText: ({ id }) => `The outcome ${id} is recorded already.`,
  });

  async function latestIds({ perScope, limit }: Parameters<OutcomeStore['latest']>[0]): Promise<readonly string[]> {
    const db = orm.em.fork().getKysely({ type: 'read' });
    const query = sql<{ readonly id: string }>`
      select id from (
        select id, row_number() over (partition by scope order by updated_at desc, id desc) as place from decision_outcome
      ) as ranked
      where place <= ${perScope} order by place, id limit ${limit}
    `;
    return (await query.execute(db)).rows.map(({ id }) => id);
  }

  return {
    ...rows,
    async latest(limits) {
      const ids = await inFlight.run(() => latestIds(limits));
      const byId = new Map<string, DecisionOutcome>();
      for (let from = 0; from < ids.length; from += READ_AT_ONCE)
        for (const row of await rows.findMany(ids.slice(from, from + READ_AT_ONCE))) byId.set(row.id, row);
      return ids.flatMap((id) => byId.get(id) ?? []);
    },
  };
}
