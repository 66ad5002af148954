import { sql, type Kysely } from 'kysely';
import { type Usd, ZERO_USD } from '../../domain/money.ts';
import type { SoughtCall, SpendRow, SpendStore } from '../../domain/spend/spend-row.ts';
import { storable } from '../../domain/storable.ts';
import type { Database } from '../database/database.ts';
import { isDuplicate } from '../database/faults.ts';
import { BudgetWindowEntity } from './entities/budget-window.ts';
import { KeySpendEntity } from './entities/key-spend.ts';
import { SpendRowEntity } from './entities/spend-row.ts';
import { createDailySums } from './daily-sums.ts';
import { createOwnerTotals } from './owner-totals.ts';
import { createSpendSince } from './spend-since.ts';
import { createWindowTotals } from './budget-windows.ts';
import {
  type EncodedRow,
  encodeRow,
  everyColumn,
  insertionInto,
  type RowTable,
  rowTable,
  textsIn,
  tuplesIn,
} from '../database/rows.ts';
import type { Tables } from '../database/tables.ts';
import { transaction } from '../database/transaction.ts';
import { costsByKey, spendRowOf, type StoredRow, storedRowOf } from './spend-rows.ts';

const keyOf = ({ traceId, spanId, id }: Pick<SpendRow, 'traceId' | 'spanId' | 'id'>): string =>
  `${traceId}:${spanId}:${id}`;

function compareKeys(left: SpendRow, right: SpendRow): number {
  if (left.traceId !== right.traceId) return left.traceId < right.traceId ? -1 : 1;
  if (left.spanId !== right.spanId) return left.spanId < right.spanId ? -1 : 1;
  if (left.id === right.id) return 0;
  return left.id < right.id ? -1 : 1;
}

/** Distinct rows in the order of their keys, so that all processes lock in one order. */
function inOrder(rows: readonly SpendRow[]): readonly SpendRow[] {
  const sorted = rows.toSorted(compareKeys);
  return sorted.filter((row, position) => {
    const before = sorted[position - 1];
    return before === undefined || compareKeys(before, row) !== 0;
  });
}

/** First twelve hex digits of the trace ids that the gateway makes at this time. */
const timeHex = (ms: number): string => Math.max(0, Math.floor(ms)).toString(16).padStart(12, '0');

interface Interval {
  readonly from: number;
  readonly to: number;
}

/** The intervals to search; overlapping ones are merged. */
function mergedIntervals(searched: readonly SoughtCall[]): readonly Interval[] {
  const merged: Interval[] = [];
  for (const { fromMs: from, toMs: to } of searched.toSorted((left, right) => left.fromMs - right.fromMs)) {
    const last = merged.at(-1);
    if (last === undefined || from > last.to) merged.push({ from, to });
    else if (to > last.to) merged[merged.length - 1] = { from: last.from, to };
  }
  return merged;
}

/** Adds the costs of rows to the totals of their keys. */
export function createTotals(
  flavour: Database['flavour'],
  totals: RowTable<'key_spend'>,
): (db: Kysely<Tables>, rows: readonly Pick<SpendRow, 'keyHash' | 'cost'>[]) => Promise<void> {
  const add = insertionInto(
    flavour,
    totals,
    sql`on conflict (key_hash) do update set total = key_spend.total + excluded.total`,
  );
  return async (db, rows) => {
    const costs = costsByKey(rows);
    if (costs.length === 0) return;
    await add(
      db,
      costs.map((cost) => encodeRow(totals, cost)),
    );
  };
}

/** Spend store in SQL. */
export function createSpendStore(database: Database): SpendStore {
  const { orm, flavour, inFlight } = database;
  const spendRows = rowTable(orm, 'spend_row', SpendRowEntity);
  const totals = rowTable(orm, 'key_spend', KeySpendEntity);
  const reading = (): Kysely<Tables> => orm.em.fork().getKysely<Tables>({ type: 'read' });

  const insert = insertionInto(flavour, spendRows);
  const insertNew = insertionInto(
    flavour,
    spendRows,
    sql`on conflict (trace_id, span_id, id) do nothing returning trace_id, span_id, id`,
  );
  const addToTotals = createTotals(flavour, totals);
  const addToWindows = createWindowTotals(flavour, rowTable(orm, 'budget_window', BudgetWindowEntity));
  const addToDays = createDailySums(flavour, spendRows);
  const encoded = (rows: readonly SpendRow[]): readonly EncodedRow[] =>
    rows.map((row) => encodeRow(spendRows, storedRowOf(row)));

  /**
   * The spend of keys, with the call log, so that admission does not wait for unfolding. Calls that are unfolded one by one
   * count twice until their segment is deleted.
   */
  const totalsOf = (keyHashes: readonly string[]): Promise<ReadonlyMap<string, Usd>> =>
    inFlight.read(async () => {
      const hashes = textsIn(flavour, keyHashes.map(storable));
      const { rows } = await sql<{ key_hash: string; total: string }>`
        select key_hash, cast(sum(total) as text) as total from (
          select key_hash, total from key_spend where key_hash in ${hashes}
          union all
          select t.value ->> 'key_hash', cast(t.value ->> 'total' as bigint)
          from call_segment s cross join ${
            flavour === 'postgresql' ? sql`lateral jsonb_array_elements(s.totals::jsonb)` : sql`json_each(s.totals)`
          } t
          where t.value ->> 'key_hash' in ${hashes}
        ) spent group by key_hash
      `.execute(reading());
      return new Map(rows.map(({ key_hash: keyHash, total }) => [keyHash, BigInt(total) as Usd]));
    });

  /** The usual case: every row is new. Fails for all when one is stored already. */
  async function appendFresh(db: Kysely<Tables>, rows: readonly SpendRow[]): Promise<void> {
    const all = encoded(rows);
    await insert(db, all);
    await addToDays(db, all);
    await addToTotals(db, rows);
    await addToWindows(db, rows);
  }

  /** Checks each row for being new, which costs as much as storing it. */
  async function appendNew(db: Kysely<Tables>, rows: readonly SpendRow[]): Promise<void> {
    const inserted = await insertNew<Pick<StoredRow, 'trace_id' | 'span_id' | 'id'>>(db, encoded(rows));
    const news = new Set(inserted.map((row) => keyOf({ traceId: row.trace_id, spanId: row.span_id, id: row.id })));
    const fresh = rows.filter((row) => news.has(keyOf(row)));
    await addToDays(db, encoded(fresh));
    await addToTotals(db, fresh);
    await addToWindows(db, fresh);
  }

  return {
    append: (rows) =>
      inFlight.write(async () => {
        if (rows.length === 0) return;
        const distinct = inOrder(rows);
        try {
          await transaction(orm, (db) => appendFresh(db, distinct));
        } catch (error) {
          if (!isDuplicate(error)) throw error;
          await transaction(orm, (db) => appendNew(db, distinct));
        }
      }),
    findBySpans: (spanKeys) =>
      inFlight.run(async () => {
        if (spanKeys.length === 0) return [];
        const rows = await reading()
          .selectFrom('spend_row')
          .select(everyColumn(spendRows))
          .where(
            sql`(trace_id, span_id)`,
            'in',
            tuplesIn(
              flavour,
              2,
              spanKeys.map((key) => key.split(':', 2)),
            ),
          )
          .$castTo<StoredRow>()
          .execute();
        return rows.map(spendRowOf);
      }),
    findElsewhere: (searched) =>
      inFlight.run(async () => {
        if (searched.length === 0) return [];
        const idsOf = (name: 'responseId' | 'callId') =>
          textsIn(
            flavour,
            searched.flatMap((call) => (call[name] === null ? [] : storable(call[name]))),
          );
        const windows = JSON.stringify(
          mergedIntervals(searched).map(({ from, to }) => [timeHex(from), timeHex(to + 1)]),
        );
        const [each, low, high] =
          flavour === 'postgresql'
            ? [sql`jsonb_array_elements(${windows}::jsonb) w(value)`, sql`w.value ->> 0`, sql`w.value ->> 1`]
            : [sql`json_each(${windows}) w`, sql`w.value ->> 0`, sql`w.value ->> 1`];
        const { rows } = await sql<StoredRow>`
          select ${sql.join(everyColumn(spendRows))} from ${each} cross join spend_row
          where spend_row.trace_id >= ${low} and spend_row.trace_id < ${high}
            and (spend_row.response_id in ${idsOf('responseId')} or spend_row.call_id in ${idsOf('callId')})
        `.execute(reading());
        return rows.map(spendRowOf);
      }),
    forgetErrors: (traces) =>
      inFlight.write(async () => {
        if (traces.length === 0) return;
        const keys = tuplesIn(
          flavour,
          2,
          traces.map(({ traceId, keyHash }) => [storable(traceId), storable(keyHash)]),
        );
        // The trace ids alone as well: they are the first column of the primary key.
        await transaction(orm, (db) =>
          db
            .updateTable('spend_row')
            .set({ error_message: null })
            .where(
              'trace_id',
              'in',
              textsIn(
                flavour,
                traces.map(({ traceId }) => storable(traceId)),
              ),
            )
            .where(sql`(trace_id, key_hash)`, 'in', keys)
            .where('error_message', 'is not', null)
            .execute(),
        );
      }),
    removeStartedBefore: (beforeMs, most) =>
      inFlight.write(() =>
        transaction(orm, async (db) => {
          const oldest = db
            .selectFrom('spend_row')
            .select(['trace_id', 'span_id', 'id'])
            .where('started_at', '<', beforeMs)
            .orderBy('started_at')
            .limit(most);
          const [done] = await db
            .deleteFrom('spend_row')
            .where(sql`(trace_id, span_id, id)`, 'in', oldest)
            .execute();
          return Number(done?.numDeletedRows ?? 0n);
        }),
      ),
    async totalOf(keyHash) {
      return (await totalsOf([keyHash])).get(keyHash) ?? ZERO_USD;
    },
    totalsOf,
    totalsOfOwners: createOwnerTotals(database),
    totalsSince: createSpendSince(database),
  };
}
