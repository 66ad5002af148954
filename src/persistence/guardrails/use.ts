import { type Kysely, type RawBuilder, sql } from 'kysely';
import type {
  GuardrailDay,
  GuardrailRun,
  GuardrailRunPage,
  GuardrailUseQuery,
  GuardrailUseStore,
} from '../../domain/guardrails/guardrail-use.ts';
import { storable } from '../../domain/storable.ts';
import type { Database } from '../database/database.ts';
import { encodeRow, insertionInto, rowTable, statements } from '../database/rows.ts';
import type { Tables } from '../database/tables.ts';
import { transaction } from '../database/transaction.ts';
import { isNewBatch } from '../gateway-activity/batches.ts';
import { GuardrailDayEntity } from './entities/guardrail-day.ts';
import { GuardrailRunEntity } from './entities/guardrail-run.ts';

const DAY_MS = 86_400_000;

/** Begin of a day, Unix ms; `otherwise` for a text that is no day. */
const beginOf = (day: string, otherwise: number): number => {
  const ms = Date.parse(`${day}T00:00:00Z`);
  return Number.isNaN(ms) ? otherwise : ms;
};

type StoredRun = Pick<GuardrailRun, 'id' | 'name' | 'kind' | 'result' | 'mode' | 'model'> & {
  readonly guardrail_id: string;
  readonly at: number | string;
  readonly latency_ms: number;
  readonly call_id: string;
  readonly trace_id: string;
  readonly key_hash: string;
  readonly team_id: string | null;
};

/** 64-bit counts are text on PostgreSQL. */
type StoredDay = Pick<GuardrailDay, 'day' | 'name' | 'kind'> &
  Readonly<Record<'passed' | 'flagged' | 'intervened' | 'failed', number | string>> & {
    readonly guardrail_id: string;
    readonly latency_ms: number;
  };

const runFrom = (row: StoredRun): GuardrailRun => ({
  id: row.id,
  guardrailId: row.guardrail_id,
  name: row.name,
  kind: row.kind,
  result: row.result,
  mode: row.mode,
  at: new Date(Number(row.at)),
  latencyMs: row.latency_ms,
  model: row.model,
  callId: row.call_id,
  traceId: row.trace_id,
  keyHash: row.key_hash,
  teamId: row.team_id,
});

/** Use of guardrails as rows: days that single statements add to, and runs that did not pass. */
export function createGuardrailUseStore({ orm, flavour, inFlight }: Database): GuardrailUseStore {
  const dayTable = rowTable(orm, 'guardrail_day', GuardrailDayEntity);
  const runTable = rowTable(orm, 'guardrail_run', GuardrailRunEntity);
  const added = ['passed', 'flagged', 'intervened', 'failed', 'latency_ms'].map(
    (name) => sql`${sql.ref(name)} = guardrail_day.${sql.ref(name)} + excluded.${sql.ref(name)}`,
  );
  const insertDays = insertionInto(
    flavour,
    dayTable,
    sql`on conflict (day, guardrail_id) do update set name = excluded.name, kind = excluded.kind, ${sql.join(added)}`,
  );
  const insertRuns = insertionInto(flavour, runTable, sql`on conflict (id) do nothing`);
  const reader = (): Kysely<Tables> => orm.em.fork().getKysely<Tables>({ type: 'read' });

  const encodedDay = ({ guardrailId, latencyMs, name, ...day }: GuardrailDay) =>
    encodeRow(dayTable, {
      ...day,
      name: storable(name),
      guardrail_id: storable(guardrailId),
      latency_ms: latencyMs,
    });
  const encodedRun = (run: GuardrailRun) =>
    encodeRow(runTable, {
      id: storable(run.id),
      guardrail_id: storable(run.guardrailId),
      name: storable(run.name),
      kind: run.kind,
      result: run.result,
      mode: run.mode,
      at: run.at.getTime(),
      latency_ms: run.latencyMs,
      model: storable(run.model),
      call_id: storable(run.callId),
      trace_id: run.traceId,
      key_hash: run.keyHash,
      team_id: run.teamId === null ? null : storable(run.teamId),
    });

  /** Conditions of runs. */
  function matching({ from, to, guardrailId, result }: GuardrailRunPage): RawBuilder<unknown> {
    const conditions = [
      sql`at >= ${beginOf(from, 0)}`,
      sql`at < ${beginOf(to, Number.MAX_SAFE_INTEGER - DAY_MS) + DAY_MS}`,
    ];
    if (guardrailId !== null) conditions.push(sql`guardrail_id = ${storable(guardrailId)}`);
    if (result !== null) conditions.push(sql`result = ${result}`);
    return sql.join(conditions, sql` and `);
  }

  return {
    add: ({ process, number, days, runs }, now, keptFrom) =>
      inFlight.write(() =>
        transaction(orm, async (db) => {
          if (!(await isNewBatch(db, { process, number, now }))) return;
          // In the order of their keys, so that two processes lock rows in one order.
          const keyOf = ({ day, guardrailId }: GuardrailDay): string => `${day} ${guardrailId}`;
          const sorted = days.toSorted((left, right) => (keyOf(left) < keyOf(right) ? -1 : 1));
          for (const rows of statements(sorted.map(encodedDay))) await insertDays(db, rows);
          for (const rows of statements(runs.map(encodedRun))) await insertRuns(db, rows);
          if (number > 1) return;
          await db.deleteFrom('guardrail_run').where('at', '<', keptFrom.getTime()).execute();
        }),
      ),
    days: ({ from, to, guardrailId }: GuardrailUseQuery) =>
      inFlight.run(async () => {
        const one = guardrailId === null ? sql`` : sql`and guardrail_id = ${storable(guardrailId)}`;
        const { rows } = await sql<StoredDay>`
          select * from guardrail_day where day >= ${storable(from)} and day <= ${storable(to)} ${one}
          order by day, guardrail_id
        `.execute(reader());
        return rows.map((row) => ({
          day: row.day,
          guardrailId: row.guardrail_id,
          name: row.name,
          kind: row.kind,
          passed: Number(row.passed),
          flagged: Number(row.flagged),
          intervened: Number(row.intervened),
          failed: Number(row.failed),
          latencyMs: row.latency_ms,
        }));
      }),
    runs: (page) =>
      inFlight.run(async () => {
        const where = matching(page);
        const [listed, counted] = await Promise.all([
          sql<StoredRun>`
            select * from guardrail_run where ${where} order by at desc, id desc limit ${page.limit} offset ${page.offset}
          `.execute(reader()),
          sql<{ count: number | string }>`select count(*) as count from guardrail_run where ${where}`.execute(reader()),
        ]);
        return { runs: listed.rows.map(runFrom), totalCount: Number(counted.rows[0]?.count ?? 0) };
      }),
  };
}
