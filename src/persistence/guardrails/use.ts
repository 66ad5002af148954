import type { InferEntity } from '@mikro-orm/core';
import { sql } from 'kysely';
import type { GuardrailDay, GuardrailUseStore } from '../../domain/guardrails/guardrail-use.ts';
import { storable } from '../../domain/storable.ts';
import type { Database } from '../database/database.ts';
import { plainValues } from '../database/plain-values.ts';
import { encodeValues, insertionInto, rowTable, statementBatches } from '../database/rows.ts';
import { recordIfNew } from '../gateway-activity/batches.ts';
import { GuardrailDayEntity, GuardrailRunEntity } from './entities.ts';

const DAY_MS = 86_400_000;

/** Start of a day, Unix ms; `fallbackMs` for a text that is not a day. */
const startOf = (day: string, fallbackMs: number): number => {
  const ms = Date.parse(`${day}T00:00:00Z`);
  return Number.isNaN(ms) ? fallbackMs : ms;
};

/** Use of guardrails: sums by day, and the runs that did not pass. A batch is added in one transaction. */
export function createGuardrailUseStore({ orm, flavour, find, transact }: Database): GuardrailUseStore {
  const dayTable = rowTable(orm, 'guardrail_day');
  const runTable = rowTable(orm, 'guardrail_run');
  const additions = ['passed', 'flagged', 'intervened', 'failed', 'latency_ms'].map(
    (name) => sql`${sql.ref(name)} = guardrail_day.${sql.ref(name)} + excluded.${sql.ref(name)}`,
  );
  const insertDays = insertionInto(
    flavour,
    dayTable,
    sql`on conflict (day, guardrail_id) do update set name = excluded.name, kind = excluded.kind, ${sql.join(additions)}`,
  );
  const insertRuns = insertionInto(flavour, runTable, sql`on conflict (id) do nothing`);
  const dayOf: (stored: InferEntity<typeof GuardrailDayEntity>) => GuardrailDay = plainValues(orm, GuardrailDayEntity);
  const runOf = plainValues(orm, GuardrailRunEntity);
  const ofGuardrail = (id: string | null) => (id === null ? {} : { guardrailId: storable(id) });

  return {
    add: ({ process, number, days, runs }, now, keptFrom) =>
      transact(async (db) => {
        if (!(await recordIfNew(db, { process, number, now }))) return;
        // In the order of their keys, so that two processes lock rows in one order.
        const keyOf = ({ day, guardrailId }: GuardrailDay): string => `${day} ${guardrailId}`;
        const sorted = days.toSorted((left, right) => (keyOf(left) < keyOf(right) ? -1 : 1));
        for (const rows of statementBatches(sorted.map((day) => encodeValues(dayTable, day))))
          await insertDays(db, rows);
        for (const rows of statementBatches(runs.map((run) => encodeValues(runTable, run)))) await insertRuns(db, rows);
        await db.deleteFrom('guardrail_run').where('at', '<', keptFrom.getTime()).execute();
      }),
    days: ({ from, to, guardrailId }) =>
      find(async (em) => {
        const where = { day: { $gte: storable(from), $lte: storable(to) }, ...ofGuardrail(guardrailId) };
        const options = { orderBy: { day: 'asc', guardrailId: 'asc' } } as const;
        return (await em.find(GuardrailDayEntity, where, options)).map(dayOf);
      }),
    runs: ({ from, to, guardrailId, result, limit, offset }) =>
      find(async (em) => {
        // `to` is the last day of the period, so the period ends one day after the start of `to`.
        const period = { $gte: startOf(from, 0), $lt: startOf(to, Number.MAX_SAFE_INTEGER - DAY_MS) + DAY_MS };
        const where = { at: period, ...ofGuardrail(guardrailId), ...(result === null ? {} : { result }) };
        const options = { orderBy: { at: 'desc', id: 'desc' }, limit, offset } as const;
        const [found, totalCount] = await em.findAndCount(GuardrailRunEntity, where, options);
        return { runs: found.map((run) => ({ ...runOf(run), at: new Date(run.at) })), totalCount };
      }),
  };
}
